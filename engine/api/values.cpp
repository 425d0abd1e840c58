// SPDX-License-Identifier: Apache-2.0
// Copies, moves and destructors of the values with many kinds, and of the error that nearly every
// function can return: compiled here once. In every file that holds a plan or returns an error they
// took a third of the time to compile.
#include "engine/api/error.h"
#include "engine/api/placement.h"
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
