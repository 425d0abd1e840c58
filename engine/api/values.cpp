// SPDX-License-Identifier: Apache-2.0
// Copies, moves and destructors of the values with many kinds, and of the error that nearly every
// function can return: compiled here once. In every file that holds a plan or returns an error they
// took a third of the time to compile.
#include "engine/api/adapter_note.h"
#include "engine/api/error.h"
#include "engine/api/export_loss.h"
#include "engine/api/load_note.h"
#include "engine/api/model_oddity.h"
#include "engine/api/placement.h"
#include "engine/api/plan_message.h"
#include "engine/api/reply_note.h"
#include "engine/api/sentence.h"

namespace engine {

Argument::Argument(const Argument&) = default;
Argument::Argument(Argument&&) noexcept = default;
Argument& Argument::operator=(const Argument&) = default;
Argument& Argument::operator=(Argument&&) noexcept = default;
Argument::~Argument() = default;

Error::Error() = default;
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

AdapterNote::AdapterNote() = default;
AdapterNote::AdapterNote(const AdapterNote&) = default;
AdapterNote::AdapterNote(AdapterNote&&) noexcept = default;
AdapterNote& AdapterNote::operator=(const AdapterNote&) = default;
AdapterNote& AdapterNote::operator=(AdapterNote&&) noexcept = default;
AdapterNote::~AdapterNote() = default;

ModelOddity::ModelOddity() = default;
ModelOddity::ModelOddity(const ModelOddity&) = default;
ModelOddity::ModelOddity(ModelOddity&&) noexcept = default;
ModelOddity& ModelOddity::operator=(const ModelOddity&) = default;
ModelOddity& ModelOddity::operator=(ModelOddity&&) noexcept = default;
ModelOddity::~ModelOddity() = default;

Suggestion::Suggestion() = default;
Suggestion::Suggestion(const Suggestion&) = default;
Suggestion::Suggestion(Suggestion&&) noexcept = default;
Suggestion& Suggestion::operator=(const Suggestion&) = default;
Suggestion& Suggestion::operator=(Suggestion&&) noexcept = default;
Suggestion::~Suggestion() = default;

Note::Note() = default;
Note::Note(const Note&) = default;
Note::Note(Note&&) noexcept = default;
Note& Note::operator=(const Note&) = default;
Note& Note::operator=(Note&&) noexcept = default;
Note::~Note() = default;

Finding::Finding() = default;
Finding::Finding(const Finding&) = default;
Finding::Finding(Finding&&) noexcept = default;
Finding& Finding::operator=(const Finding&) = default;
Finding& Finding::operator=(Finding&&) noexcept = default;
Finding::~Finding() = default;

LoadNote::LoadNote() = default;
LoadNote::LoadNote(const LoadNote&) = default;
LoadNote::LoadNote(LoadNote&&) noexcept = default;
LoadNote& LoadNote::operator=(const LoadNote&) = default;
LoadNote& LoadNote::operator=(LoadNote&&) noexcept = default;
LoadNote::~LoadNote() = default;

ReplyNote::ReplyNote() = default;
ReplyNote::ReplyNote(const ReplyNote&) = default;
ReplyNote::ReplyNote(ReplyNote&&) noexcept = default;
ReplyNote& ReplyNote::operator=(const ReplyNote&) = default;
ReplyNote& ReplyNote::operator=(ReplyNote&&) noexcept = default;
ReplyNote::~ReplyNote() = default;

ExportLoss::ExportLoss() = default;
ExportLoss::ExportLoss(const ExportLoss&) = default;
ExportLoss::ExportLoss(ExportLoss&&) noexcept = default;
ExportLoss& ExportLoss::operator=(const ExportLoss&) = default;
ExportLoss& ExportLoss::operator=(ExportLoss&&) noexcept = default;
ExportLoss::~ExportLoss() = default;

PlanIssue::PlanIssue() = default;
PlanIssue::PlanIssue(const PlanIssue&) = default;
PlanIssue::PlanIssue(PlanIssue&&) noexcept = default;
PlanIssue& PlanIssue::operator=(const PlanIssue&) = default;
PlanIssue& PlanIssue::operator=(PlanIssue&&) noexcept = default;
PlanIssue::~PlanIssue() = default;

PlacementPlan::PlacementPlan() = default;
PlacementPlan::PlacementPlan(const PlacementPlan&) = default;
PlacementPlan::PlacementPlan(PlacementPlan&&) noexcept = default;
PlacementPlan& PlacementPlan::operator=(const PlacementPlan&) = default;
PlacementPlan& PlacementPlan::operator=(PlacementPlan&&) noexcept = default;
PlacementPlan::~PlacementPlan() = default;

} // namespace engine
