//! Shapes of `wire::agents`.

use wire::agents::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<AgentDiff>();
    assert_round_trip::<ChangedFileView>();
    assert_round_trip::<CommitView>();
    assert_round_trip::<AgentStory>();
    assert_round_trip::<AgentCrumb>();
    assert_round_trip::<StoryMark>();
    assert_round_trip::<SpentBy>();
    assert_round_trip::<StoryCounts>();
    assert_round_trip::<ClaimView>();
    assert_round_trip::<AgentPullRequest>();
    assert_round_trip::<AgentStream>();
    assert_round_trip::<OutputPlace>();
    assert_round_trip::<StreamItem>();
    assert_round_trip::<AgentResultView>();
    assert_round_trip::<TokensView>();
    assert_round_trip::<AgentStatusAnswer>();
    assert_round_trip::<RunningAgents>();
    assert_round_trip::<RunningAgent>();
    assert_round_trip::<SpawnedAgent>();
    assert_round_trip::<SpawnedAgents>();
    assert_round_trip::<SpawnAggregate>();
    assert_round_trip::<AwaitedAgent>();
    assert_round_trip::<DraftedAgent>();
    assert_round_trip::<KilledAgent>();
    assert_round_trip::<AgentLines>();
    assert_round_trip::<AgentLine>();
}
