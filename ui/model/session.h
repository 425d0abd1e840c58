// SPDX-License-Identifier: Apache-2.0
// What the user has chosen and what the engine has answered, without any widget: model folder,
// load options, adapters, state. Top bar, layout, meter and chat read it and tell it wishes; it
// turns wishes into requests to the engine and keeps them in order (one at a time for adapters, so
// that a dragged slider cannot flood the queue).
#pragma once

#include "engine/api/error.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/snapshot.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

namespace ui {

class Session : public QObject {
    Q_OBJECT

public:
    /// Empty: nothing chosen. Chosen: a folder is chosen, not loaded. Applying: parts move.
    enum class State { Empty = 1, Chosen, Loading, Ready, Generating, Applying };

    explicit Session(QObject* parent = nullptr);

    [[nodiscard]] State state() const;
    [[nodiscard]] bool isLoaded() const;
    /// Loading, generating or moving parts: Cancel has something to stop.
    [[nodiscard]] bool isBusy() const;

    /// The folder chosen ("demo" for the bundled one), empty for none.
    [[nodiscard]] const QString& model() const { return model_; }
    /// Name to show for the chosen folder: its last component.
    [[nodiscard]] QString modelName() const { return nameOf(model_); }
    [[nodiscard]] static QString nameOf(const QString& model);
    /// The model that the window speaks of: the one that is being loaded or is loaded, else the
    /// chosen one. Another one may be chosen beside it.
    [[nodiscard]] QString shownModel() const;
    /// What is known of shownModel(); nullptr while nothing is.
    [[nodiscard]] std::shared_ptr<const engine::ModelSummary> shownSummary() const;
    [[nodiscard]] bool isChosenLoaded() const {
        return isLoaded() && loaded_.model == model_.toStdString();
    }
    /// One model is loaded and another one chosen. Adapters are those of the loaded one then: the
    /// chosen one is looked at and planned without any.
    [[nodiscard]] bool isChosenBeside() const {
        return isLoaded() && !model_.isEmpty() && loaded_.model != model_.toStdString();
    }
    [[nodiscard]] const std::shared_ptr<const engine::ModelSummary>& summary() const {
        return summary_;
    }
    /// Why the chosen folder cannot be used; nullptr when it can or is still being read.
    [[nodiscard]] const engine::Error* modelError() const {
        return model_error_ ? model_error_.get() : nullptr;
    }
    [[nodiscard]] bool isInspecting() const { return is_inspecting_; }
    /// Load follows as soon as the folder has been read.
    [[nodiscard]] bool isAboutToLoad() const { return loads_when_read_; }
    [[nodiscard]] const std::shared_ptr<const engine::EngineSnapshot>& snapshot() const {
        return snapshot_;
    }
    /// What the engine can do that answers, or would answer: everything before its first word.
    [[nodiscard]] engine::Capabilities capabilities() const;
    /// Options with model and adapters filled in: what Load and the layout's plans use.
    [[nodiscard]] engine::LoadRequest request() const;
    [[nodiscard]] const std::vector<engine::AdapterChoice>& adapters() const { return adapters_; }
    /// Coverage of one adapter on the chosen model; nullptr until it has been read.
    [[nodiscard]] const engine::AdapterSummary* coverage(const std::string& folder) const;
    /// How what is loaded was loaded.
    [[nodiscard]] const engine::LoadRequest& loadedRequest() const { return loaded_; }
    /// The folder that is loaded; empty when none was.
    [[nodiscard]] QString loadedModel() const { return QString::fromStdString(loaded_.model); }
    /// Request of the load or move that runs or was the last.
    [[nodiscard]] const engine::LoadRequest& askedRequest() const { return asked_; }
    /// Seconds since the load or move in progress began; 0 without one.
    [[nodiscard]] double jobSeconds() const;
    /// The driver gives no card to this process any more: only a restart has one again.
    [[nodiscard]] bool needsRestart() const { return needs_restart_; }
    /// The model that was on a lost card is loaded on the CPU in its place.
    [[nodiscard]] bool isCpuStandingIn() const { return isLoaded() && before_loss_.has_value(); }
    /// What a restart comes back to: request(), but what was on the card that was lost goes there
    /// again, not to the CPU that stood in for it.
    [[nodiscard]] engine::LoadRequest restartRequest() const;
    /// Seconds the last load took, 0 before.
    [[nodiscard]] double loadSeconds() const { return load_s_; }

public Q_SLOTS:
    /// Empty: none. `projector`: the towers' file of a GGUF model that lies elsewhere.
    void chooseModel(const QString& folder, const QString& projector = {});
    /// Back to the model that is loaded, with the options it has.
    void chooseLoaded();
    /// Chooses with the options and adapters of an earlier session; loads nothing.
    void chooseAgain(const QString& folder, const engine::LoadRequest& options);
    /// Chooses and loads as soon as the folder has been read without error.
    void chooseAndLoad(const QString& folder, const QString& projector = {});
    /// Loads what was chosen as soon as it has been read without error.
    void loadWhenRead();
    /// Options that a model was loaded with before, by folder: they come back with it.
    void setRemembered(const QHash<QString, engine::LoadRequest>& options);
    /// Those of a model that is not here yet.
    void rememberFor(const QString& folder, const engine::LoadRequest& options);
    /// Placement, format, context, simulated GPUs; model and adapters of `options` are ignored.
    void setOptions(const engine::LoadRequest& options);
    void addAdapter(const QString& folder);
    /// These in the place of those that are there. False, and nothing changed: another model is
    /// loaded than the chosen one, and there are some to add.
    bool setAdapters(const std::vector<engine::AdapterChoice>& adapters);
    void removeAdapter(int index);
    void setAdapterEnabled(int index, bool is_enabled);
    void setAdapterStrength(int index, double strength);
    void load();
    /// Loads `request` also where more memory is needed than the system reports as free.
    void loadAnyway(const engine::LoadRequest& request);
    /// What was loaded last, with the places it had, once more: after its device was lost.
    void loadAgain();
    /// The same, everything on the CPU: until a restart has the card again.
    void loadOnCpu();
    void eject();
    void cancel();
    /// What was cancelled last, once more.
    void resume();
    /// A staged layout: moves parts of the loaded model when only the map differs, else loads.
    void apply(const engine::LoadRequest& request);
    /// Measures what an adapter changes on the loaded model; answered by effectMeasured().
    void measureEffect(const QString& folder);
    /// Chat side tells that a reply was asked for.
    void noteGenerating();

    // Answers of the engine.
    void showSnapshot(const std::shared_ptr<const engine::EngineSnapshot>& snapshot);
    void showModel(const QString& model,
                   const std::shared_ptr<const engine::ModelSummary>& summary);
    void showModelError(const QString& model, const engine::Error& error);
    void showLoaded();
    void showLoadError(const engine::Error& error);
    void showMapApplied();
    void showMapError(const engine::Error& error);
    void showAdaptersChanged();
    void showAdaptersError(const engine::Error& error);
    void showReplyDone();
    void showEffect(const QString& folder, const engine::AdapterSummary::Effect& effect);
    void showEffectError(const QString& folder, const engine::Error& error);
    /// An error of a reply or comparison; told further only when it is the loss of a device.
    void showDeviceError(const engine::Error& error);

Q_SIGNALS:
    /// Anything above changed, except a new snapshot of the same state.
    void changed();
    /// Every snapshot, for the meter and progress.
    void snapshotChanged(const std::shared_ptr<const engine::EngineSnapshot>& snapshot);
    /// The chosen folder or its options changed: plans made for it are of the past.
    void planInputChanged();
    /// A load or move ended well: what is loaded now is in snapshot()->plan.
    void applied();
    /// What could not be done. `what` is the translated start of the sentence.
    void failed(const QString& what, const engine::Error& error);
    /// A device stopped answering while it was used. `was_reloading`: loadAgain() met the same.
    /// needsRestart() tells whether loading again can help at all.
    void deviceLost(const engine::Error& error, bool was_reloading);
    void modelChosen(const QString& folder);
    /// A model was loaded, or its parts moved: these options are its own from now on.
    void optionsRemembered(const QString& folder, const engine::LoadRequest& options);
    /// The chosen folder holds a model.
    void modelRead(const QString& folder);
    void effectMeasured(const QString& folder, const engine::AdapterSummary::Effect& effect);
    void effectFailed(const QString& folder, const engine::Error& error);

    // Wishes to the engine.
    void inspectRequested(const QString& model, const QStringList& adapters);
    void loadRequested(const engine::LoadRequest& request);
    void unloadRequested();
    void applyMapRequested(const QString& device_map);
    void adaptersRequested(const std::vector<engine::AdapterChoice>& adapters);
    void effectRequested(const QString& folder);
    void cancelRequested();

private:
    enum class Job { None = 1, Load, Apply, Reply };

    void inspect();
    void useRemembered(const QString& folder);
    void remember();
    void startLoad(const engine::LoadRequest& request);
    /// failed(), or deviceLost() when that is what happened.
    void tellFailure(const QString& what, const engine::Error& error);
    void resumeIfAsked();
    void adaptersEdited(bool is_list_changed);
    void sendAdapters();

    QHash<QString, engine::LoadRequest> remembered_;
    QString model_;
    std::shared_ptr<const engine::ModelSummary> summary_;
    std::unique_ptr<engine::Error> model_error_;
    bool is_inspecting_ = false;
    bool loads_when_read_ = false;
    engine::LoadRequest options_;
    std::vector<engine::AdapterChoice> adapters_;
    std::shared_ptr<const engine::EngineSnapshot> snapshot_;
    Job job_ = Job::None;
    engine::LoadRequest asked_; ///< Request of the load or move in progress.
    engine::LoadRequest loaded_;
    bool is_loading_again_ = false;
    bool resumes_ = false;    ///< As soon as what was cancelled has ended.
    Job stopped_ = Job::None; ///< What cancel() ended: a load or a move.
    bool needs_restart_ = false;
    std::optional<engine::LoadRequest> before_loss_; ///< While the CPU stands in for a card.
    qint64 load_started_ms_ = 0;                     ///< Start of a load or a move.
    double load_s_ = 0.0;
    bool are_adapters_asked_ = false;  ///< A setAdapters is under way ...
    bool are_adapters_edited_ = false; ///< ... and the user has changed them since.
};

} // namespace ui
