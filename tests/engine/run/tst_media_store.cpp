// SPDX-License-Identifier: Apache-2.0
// The store of encoded attachments in front of an encoder that only counts: how often a file is
// read, decoded and encoded, and that a changed file is never taken for the old one.
#include "engine/run/media_store.h"
#include "tests/support/links.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>

#ifndef _WIN32
#include <sys/stat.h>
#endif

using engine::MediaStore;
using engine::MediaWish;
using engine::PreparedMedia;
using engine::Result;

namespace {

namespace fs = std::filesystem;

/// Rows: the file's bytes. Tower: each one more. Features: each twice that.
class CountingEncoder final : public engine::MediaEncoder {
public:
    std::string_view name() const override { return "vision"; }
    int64_t placeholder() const override { return 1; }
    size_t maxFileBytes() const override { return 64; }
    uint64_t formatKey() const override { return format; }
    Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                  const MediaWish& wish) const override {
        ++prepared;
        PreparedMedia media;
        for (const std::byte byte : file) {
            media.rows.push_back(static_cast<float>(byte));
        }
        media.rows.resize(static_cast<size_t>(wish.tokens));
        return media;
    }
    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override {
        ENGINE_ASSIGN(const std::vector<float> tower, runTower(media, stop));
        return project(tower);
    }
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& /*stop*/) override {
        ++towers;
        std::vector<float> out = media.rows;
        for (float& value : out) {
            value += 1.0F;
        }
        return out;
    }
    Result<std::vector<float>> project(std::span<const float> tower) override {
        std::vector<float> out(tower.begin(), tower.end());
        for (float& value : out) {
            value *= 2.0F;
        }
        return out;
    }
    int64_t towerWidth() const override { return 1; }
    int64_t featureWidth() const override { return 1; }

    mutable int prepared = 0;
    int towers = 0;
    uint64_t format = 7;
};

} // namespace

class TestMediaStore : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void readOnce();
    void changedFile();
    void keysDiffer();
    void droppedFeatures();
    void refusals();

private:
    /// A file whose last change is long enough ago for its stamp to be trusted.
    std::string settledFile(const char* name, const std::string& bytes);
    engine::MessagePart part(const std::string& path) {
        return {engine::MessagePart::Kind::Image, path};
    }

    void reset() {
        encoder_.prepared = encoder_.towers = 0;
        encoder_.format = 7;
    }

    QTemporaryDir folder_;
    CountingEncoder encoder_;
};

std::string TestMediaStore::settledFile(const char* name, const std::string& bytes) {
    const fs::path path = fs::path(folder_.path().toStdString()) / name;
    std::ofstream(path, std::ios::binary) << bytes;
    // The time of a change cannot be set: wait it out.
    QTest::qWait(2200);
    return path.string();
}

/// Ahead of a question, its tower beside the prompt, its projector afterwards, and in the next
/// question: one read, one tower.
void TestMediaStore::readOnce() {
    MediaStore store;
    reset();
    const std::string path = settledFile("cat.png", "meow");
    auto open = store.open(part(path), 4, encoder_);
    QVERIFY(open.has_value());
    const auto tower = store.encode(*open, encoder_, "", {}, MediaStore::Wanted::Tower);
    QVERIFY(tower.has_value() && (*tower)->features.empty());
    QCOMPARE((*tower)->tokens, 4);
    open->bytes = nullptr;
    const auto whole = store.encode(*open, encoder_, "", {});
    QVERIFY(whole.has_value());
    QCOMPARE((*whole)->features.front(), 2.0F * (static_cast<float>('m') + 1.0F));
    const auto again = store.open(part(path), 4, encoder_);
    QVERIFY(again.has_value() && again->content == open->content);
    const auto kept = store.encode(*again, encoder_, "", {});
    QVERIFY(kept.has_value() && (*kept)->key == (*whole)->key);
    QCOMPARE(store.filesRead(), 1);
    QCOMPARE(encoder_.prepared, 1);
    QCOMPARE(encoder_.towers, 1);
}

/// Same name, same size: read again, whether or not its stamp can be trusted.
void TestMediaStore::changedFile() {
    MediaStore store;
    reset();
    const std::string path = settledFile("changing.png", "aaaa");
    const auto first = store.open(part(path), 4, encoder_);
    QVERIFY(first.has_value());
    for (const char* bytes : {"bbbb", "cccc"}) {
        std::ofstream(path, std::ios::binary) << bytes;
        const auto next = store.open(part(path), 4, encoder_);
        QVERIFY(next.has_value() && next->content != first->content);
        const auto encoded = store.encode(*next, encoder_, "", {});
        QVERIFY(encoded.has_value());
        QCOMPARE((*encoded)->features.front(), 2.0F * (static_cast<float>(bytes[0]) + 1.0F));
    }
    QCOMPARE(store.filesRead(), 3);
}

void TestMediaStore::keysDiffer() {
    MediaStore store;
    reset();
    const std::string path = settledFile("keys.png", "meow");
    const auto key = [&](int64_t tokens, const std::string& adapters) {
        const auto open = store.open(part(path), tokens, encoder_);
        const auto encoded = store.encode(*open, encoder_, adapters, {});
        return (*encoded)->key;
    };
    const uint64_t plain = key(4, "");
    QVERIFY(key(3, "") != plain);
    QVERIFY(key(4, "painter") != plain);
    encoder_.format = 8;
    QVERIFY(key(4, "") != plain);
    encoder_.format = 7;
    QCOMPARE(key(4, ""), plain);
    QCOMPARE(encoder_.towers, 4);
}

/// A known file whose features are gone is read once more; one that has changed is told.
void TestMediaStore::droppedFeatures() {
    MediaStore store;
    reset();
    const std::string path = settledFile("dropped.png", "meow");
    auto open = store.open(part(path), 4, encoder_);
    QVERIFY(open.has_value() && store.encode(*open, encoder_, "", {}).has_value());
    store.clear();
    open = store.open(part(path), 4, encoder_);
    QVERIFY(open.has_value() && open->bytes == nullptr);
    QVERIFY(store.encode(*open, encoder_, "", {}).has_value());
    QCOMPARE(store.filesRead(), 2);
    store.clear();
    std::ofstream(path, std::ios::binary) << "woof";
    const auto changed = store.encode(*open, encoder_, "", {});
    QVERIFY(!changed.has_value());
    QVERIFY(changed.error().message.find("changed while it was read") != std::string::npos);
}

void TestMediaStore::refusals() {
    MediaStore store;
    const fs::path folder = folder_.path().toStdString();
    const auto missing = store.open(part((folder / "none.png").string()), 4, encoder_);
    QVERIFY(!missing.has_value() && missing.error().code == engine::ErrorCode::InvalidFile);
    std::ofstream(folder / "large.png") << std::string(65, 'x');
    const auto large = store.open(part((folder / "large.png").string()), 4, encoder_);
    QVERIFY(!large.has_value() && large.error().code == engine::ErrorCode::Unsupported);
    QVERIFY(!store.open(part(folder.string()), 4, encoder_).has_value());
    std::ofstream(folder / "small.png") << "x";
    if (support::makeLink(folder / "small.png", folder / "link.png")) {
        QVERIFY(store.open(part((folder / "link.png").string()), 4, encoder_).has_value());
    }
#ifndef _WIN32
    const fs::path pipe = folder / "pipe.png";
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    QVERIFY(!store.open(part(pipe.string()), 4, encoder_).has_value()); // and does not wait for it
#endif
}

TEST_CLASS(TestMediaStore)
#include "tst_media_store.moc"
