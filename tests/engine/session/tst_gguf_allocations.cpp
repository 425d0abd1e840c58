// SPDX-License-Identifier: Apache-2.0
// Plain memory runs out at every allocation of opening a GGUF file and reading its texts or, of an
// adapter, its factors: once, and from there on. What follows is std::bad_alloc, which the engine's
// one handler takes, or the model, and no block of memory is left over. Loads of whole models:
// tst_every_allocation.cpp.
#include "engine/families/gguf/checkpoint.h"
#include "engine/lora/adapter.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/engine/files/small_gguf.h"
#include "tests/support/listed_model.h"
#include "tests/support/memory/failing_memory.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <functional>
#include <new>

namespace {

namespace fs = std::filesystem;
namespace gguf = support::gguf;

} // namespace

class TestGgufAllocations : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(folder_.isValid()); }
    void everyAllocation_data();
    void everyAllocation();
    void adapters_data();
    void adapters();

private:
    /// Lets every allocation of `open` fail, which returns true where all was read.
    static void sweep(support::MemoryFault::Which which, const std::function<bool()>& open);
    [[nodiscard]] fs::path place(const char* name) const {
        return fs::path(folder_.path().toStdString()) / name;
    }
    QTemporaryDir folder_;
};

void TestGgufAllocations::everyAllocation_data() {
    support::addColumns<QByteArray, QByteArray, support::MemoryFault::Which>("model", "projector",
                                                                             "which");
    using Which = support::MemoryFault::Which;
    for (const auto& [name, which] :
         {std::pair("once", Which::Once), std::pair("sticky", Which::Sticky)}) {
        QTest::addRow("Gemma with a tower, %s", name)
            << QByteArray::fromStdString(gguf::gemma().bytes())
            << QByteArray::fromStdString(gguf::projector().bytes()) << which;
        QTest::addRow("llama, %s", name)
            << QByteArray::fromStdString(gguf::llama().bytes()) << QByteArray() << which;
    }
}

void TestGgufAllocations::everyAllocation() {
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, projector);
    QFETCH(support::MemoryFault::Which, which);
    support::writeBytes(place("model.gguf"), model.toStdString());
    fs::path towers;
    if (!projector.isEmpty()) {
        towers = place("mmproj.gguf");
        support::writeBytes(towers, projector.toStdString());
    } else {
        fs::remove(place("mmproj.gguf"));
    }
    const fs::path file = place("model.gguf");
    sweep(which, [&]() -> bool {
        const auto checkpoint = engine::ggufCheckpoint(file, towers);
        return checkpoint && (*checkpoint)->openTensors({}) &&
               (*checkpoint)->read(engine::ModelText::Tokenizer) &&
               (*checkpoint)->read(engine::ModelText::Generation) &&
               (*checkpoint)->read(engine::ModelText::TokenizerConfig);
    });
}

void TestGgufAllocations::adapters_data() {
    QTest::addColumn<support::MemoryFault::Which>("which");
    QTest::newRow("once") << support::MemoryFault::Which::Once;
    QTest::newRow("sticky") << support::MemoryFault::Which::Sticky;
}

void TestGgufAllocations::adapters() {
    QFETCH(support::MemoryFault::Which, which);
    gguf::File file = gguf::adapter();
    file.tensor("blk.0.attn_q.weight.lora_a").type = 8; // in blocks
    file.tensors.push_back({"token_embd.weight.lora_a", {2, 1024}});
    file.tensors.push_back({"token_embd.weight.lora_b", {2, 64}});
    support::writeBytes(place("lora.gguf"), file.bytes());
    const support::ListedModel model = support::goldenModel("e2b");
    const fs::path path = place("lora.gguf");
    sweep(which, [&]() -> bool {
        const auto adapter = engine::loadAdapter(path, model.config, model.tensors);
        return adapter && (*adapter)->updates().size() == 3;
    });
}

void TestGgufAllocations::sweep(support::MemoryFault::Which which,
                                const std::function<bool()>& open) {
    using support::MemoryFault;
    QVERIFY(open()); // what is made once in a program
    const int64_t before = support::liveBlocks();
    MemoryFault calm(0);
    QVERIFY(open());
    calm.end();
    const int64_t calls = MemoryFault::calls();
    QVERIFY(calls > 100);
    int failures = 0;
    for (int64_t n = 1; n <= calls; ++n) {
        bool is_open = false;
        {
            MemoryFault fault(n, which);
            try {
                is_open = open();
            } catch (const std::bad_alloc&) {
                ++failures;
            }
        }
        QCOMPARE(support::liveBlocks(), before);
        QVERIFY2(!is_open || which == MemoryFault::Which::Once || MemoryFault::failed() == 0,
                 std::to_string(n).c_str());
    }
    qInfo("%d of %d allocations failed", failures, static_cast<int>(calls));
    QVERIFY(failures > calls / 2);
    QVERIFY(open());
}

TEST_CLASS(TestGgufAllocations)
#include "tst_gguf_allocations.moc"
