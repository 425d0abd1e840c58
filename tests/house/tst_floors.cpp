// SPDX-License-Identifier: Apache-2.0
// The rooms of the house stand on floors, and includes lead downwards alone: no two rooms include
// each other, not even over a third one.
#include "tests/house/source_text.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// From the cellar to the roof. A room is a folder with all that is below it; files that lie in a
/// top folder itself are a room of their own ("kernels": what every device's kernels share).
constexpr std::string_view kRooms[] = {
    "kernels",        "kernels/cpu",   "kernels/cuda", "engine/api",
    "engine/base",    "engine/client", "engine/files", "engine/model",
    "engine/media",   "engine/text",   "engine/quant", "engine/families",
    "engine/forward", "engine/lora",   "engine/plan",  "engine/devices",
    "engine/load",    "engine/run",    "models/hub",   "models",
    "remote",         "ipc",           "ui/style",     "ui/common",
    "ui/media",       "ui/layout",     "ui/chat",      "ui/compare",
    "ui/history",     "ui/meter",      "ui/library",   "ui/model",
    "ui/explore",     "ui/dialogs",    "ui/window",    "app/common",
    "app/network",    "app/store",     "app/serve",    "app/engines",
    "app/start",      "app/window",    "app/cli",      "app",
};

/// "engine/plan" for engine/plan/planner.h.
std::string roomOf(const std::string& path) {
    const size_t first = path.find('/');
    const size_t second = path.find('/', first + 1);
    return path.substr(0, second == std::string::npos ? first : second);
}

/// Its place in kRooms; as many as there are when it is in none.
size_t floorOf(const std::string& room) {
    return static_cast<size_t>(std::find(std::begin(kRooms), std::end(kRooms), room) -
                               std::begin(kRooms));
}

/// What leads upwards or into no room, a line each; empty: nothing.
std::string floorComplaints(const std::map<std::string, std::string>& sources) {
    static const std::regex kInclude(
        R"(^\s*#\s*include\s+"((?:app|engine|ipc|kernels|models|remote|ui)/[^"]+))");
    std::string text;
    for (const auto& [path, source] : sources) {
        const std::string room = roomOf(path);
        if (floorOf(room) == std::size(kRooms)) {
            text += path + ": is in no room of kRooms\n";
        }
        for (const std::string& line : house::linesOf(source, house::Look::Code)) {
            std::smatch match;
            if (!std::regex_search(line, match, kInclude)) {
                continue;
            }
            const std::string other = roomOf(match[1]);
            if (floorOf(other) > floorOf(room)) {
                text += path + ": includes " + match[1].str() + ", which is above it\n";
            }
        }
    }
    return text;
}

} // namespace

class TestFloors : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void leadDownwards();
    void findsAWayUp();
};

void TestFloors::leadDownwards() {
    const auto sources =
        house::sourcesBelow({"app", "engine", "ipc", "kernels", "models", "remote", "ui"});
    QVERIFY(sources.size() > 500);
    const std::string wrong = floorComplaints(sources);
    QVERIFY2(wrong.empty(), ("\n" + wrong).c_str());
    for (const std::string_view room : kRooms) {
        const bool is_lived_in = std::any_of(sources.begin(), sources.end(), [&](const auto& file) {
            return roomOf(file.first) == room;
        });
        QVERIFY2(is_lived_in, std::string(room).c_str());
    }
}

void TestFloors::findsAWayUp() {
    const auto wrongWith = [](const std::string& path, const std::string& include) {
        return floorComplaints({{path, "#include \"" + include + "\"\n"}});
    };
    QCOMPARE(wrongWith("engine/plan/a.cpp", "engine/forward/b.h"), std::string());
    QCOMPARE(wrongWith("engine/plan/a.cpp", "engine/plan/deeper/b.h"), std::string());
    QCOMPARE(wrongWith("engine/families/gemma4/a.cpp", "engine/families/b.h"), std::string());
    QCOMPARE(wrongWith("kernels/ops.cpp", "kernels/cuda/b.h"),
             std::string("kernels/ops.cpp: includes kernels/cuda/b.h, which is above it\n"));
    QCOMPARE(wrongWith("engine/forward/a.h", "engine/plan/b.h"),
             std::string("engine/forward/a.h: includes engine/plan/b.h, which is above it\n"));
    QCOMPARE(wrongWith("ui/chat/a.h", "app/window/wiring.h"),
             std::string("ui/chat/a.h: includes app/window/wiring.h, which is above it\n"));
    QCOMPARE(wrongWith("engine/attic/a.h", "engine/base/result.h"),
             std::string("engine/attic/a.h: is in no room of kRooms\n"));
    QVERIFY(wrongWith("ui/chat/a.h", "engine/attic/b.h").find("above") != std::string::npos);
}

TEST_CLASS(TestFloors)
#include "tst_floors.moc"
