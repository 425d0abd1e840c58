// SPDX-License-Identifier: Apache-2.0
// Questions that the demo model answers, each with its picture or sound, one click away. Shown
// above the composer while the demo model is loaded and the chat is empty.
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

class QHBoxLayout;

namespace ui {

/// One entry of resources/demo_model/samples/samples.json; file names are absolute.
struct Sample {
    QString title, question, image, audio;
};

class SamplesStrip : public QWidget {
    Q_OBJECT

public:
    explicit SamplesStrip(QWidget* parent = nullptr);

    /// `thumbnails` holds one image per sample, null where there is no picture.
    void setSamples(const std::vector<Sample>& samples, const std::vector<QImage>& thumbnails);
    [[nodiscard]] bool isEmpty() const { return samples_.empty(); }

    /// One card: where more do not fit, the first ones are shown.
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void sampleChosen(const ui::Sample& sample);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();
    std::vector<Sample> samples_;
    QHBoxLayout* row_;
};

} // namespace ui
