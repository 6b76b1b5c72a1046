//! Shapes of `wire::tasks`.

use wire::tasks::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<TaskRow>();
    assert_round_trip::<EpicName>();
    assert_round_trip::<TaskNeed>();
    assert_round_trip::<TaskAgent>();
    assert_round_trip::<TaskQuestion>();
    assert_round_trip::<TaskReview>();
    assert_round_trip::<Board>();
    assert_round_trip::<BoardColumn>();
    assert_round_trip::<Tasks>();
    assert_round_trip::<GraphNode>();
    assert_round_trip::<GraphEdge>();
    assert_round_trip::<TaskGraph>();
    assert_round_trip::<HistoryEntry>();
    assert_round_trip::<TaskHistory>();
    assert_round_trip::<TaskDetails>();
    assert_round_trip::<TaskLink>();
    assert_round_trip::<TaskComment>();
    assert_round_trip::<TaskDispatch>();
    assert_round_trip::<TaskContext>();
    assert_round_trip::<TaskLines>();
    assert_round_trip::<TaskLine>();
    assert_round_trip::<TaskView>();
    assert_round_trip::<TaskAnswer>();
    assert_round_trip::<CommentLine>();
    assert_round_trip::<DispatchLine>();
    assert_round_trip::<TasksAnswer>();
    assert_round_trip::<AddedComment>();
    assert_round_trip::<ForcedTask>();
    assert_round_trip::<ReturnedTask>();
}
