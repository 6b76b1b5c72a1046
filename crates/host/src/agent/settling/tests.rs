//! Every way in which a turn can be followed.

use super::*;
use crate::agent::{EndReport, EndReportStatus};

fn ends() -> [TurnEnd; 4] {
    let why = || "why".to_owned();
    [TurnEnd::Well, TurnEnd::Badly(why()), TurnEnd::Bounded(why()), TurnEnd::Limited(why())]
}

fn with(queued: &[&str]) -> Settling {
    let mut settling = Settling::default();
    for text in queued {
        settling.queue((*text).to_owned());
    }
    settling
}

fn stopped(queued: &[&str]) -> Settling {
    let mut settling = with(queued);
    settling.stop();
    settling
}

#[test]
fn nothing_is_decided_while_a_message_is_in_flight() {
    for end in ends() {
        for (mut settling, queued) in
            [(with(&[]), &[][..]), (with(&["a"]), &["a"]), (stopped(&["a"]), &["a"])]
        {
            assert_eq!(settling.after(&end, SentMessages::InFlight), AfterTurn::Wait, "{end:?}");
            assert_eq!(settling.take_queued(), queued, "the messages stay");
        }
    }
}

#[test]
fn only_a_turn_that_ended_well_is_followed_by_another() {
    for end in ends() {
        let expected = match end {
            TurnEnd::Well => AfterTurn::Begin("first\n\na\n\nb".to_owned()),
            _ => AfterTurn::Finish,
        };
        let mut settling = with(&["a", "b"]);
        settling.queue_first("first".to_owned());
        assert_eq!(settling.after(&end, SentMessages::Settled), expected, "{end:?}");
    }
}

#[test]
fn without_messages_or_when_stopped_it_is_over() {
    for end in ends() {
        assert_eq!(with(&[]).after(&end, SentMessages::Settled), AfterTurn::Finish, "{end:?}");
        assert_eq!(
            stopped(&["a"]).after(&end, SentMessages::Settled),
            AfterTurn::Finish,
            "{end:?}"
        );
    }
}

#[test]
fn messages_are_sent_once() {
    let mut settling = with(&["a"]);
    assert_eq!(
        settling.after(&TurnEnd::Well, SentMessages::Settled),
        AfterTurn::Begin("a".to_owned())
    );
    assert_eq!(settling.after(&TurnEnd::Well, SentMessages::Settled), AfterTurn::Finish);
}

#[test]
fn the_result_comes_before_the_input_is_closed() {
    let failure = || EndReportStatus::Failure("why".to_owned());
    let verdicts = [
        EndReportStatus::Success,
        failure(),
        EndReportStatus::Aborted("why".to_owned()),
        failure(),
    ];
    for (end, verdict) in ends().into_iter().zip(verdicts) {
        let mut settling = Settling::default();
        let until = Some(Timestamp::from_millis(7));
        settling.limited_until(until);
        let done = EndReport { verdict, text: "words".to_owned(), value: None };
        let mut expected = vec![Step::Saw(Event::Done(done)), Step::Close];
        if matches!(end, TurnEnd::Limited(_)) {
            expected.insert(0, Step::Saw(Event::Limited { until }));
        }
        assert_eq!(settling.finish(&end, "words"), expected, "{end:?}");
        assert_eq!(settling.gone("words"), [], "the end of the process adds nothing");
    }
}

#[test]
fn a_process_that_goes_without_a_result_failed() {
    let steps = Settling::default().gone("words");
    let why = EndReportStatus::Failure("it ended without a result".to_owned());
    let done = EndReport { verdict: why, text: "words".to_owned(), value: None };
    assert_eq!(steps, [Step::Saw(Event::Done(done))]);
}

#[test]
fn a_result_of_an_earlier_turn_counts() {
    let mut settling = Settling::default();
    settling.turn_ended(&TurnEnd::Well, "```json\n{\"status\":\"failed\",\"summary\":\"no\"}\n```");
    settling.turn_ended(&TurnEnd::Badly("x".to_owned()), "{\"status\":\"success\"}");
    let steps = settling.finish(&TurnEnd::Well, "words");
    let [Step::Saw(Event::Done(done)), Step::Close] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!(done.value.as_ref().map(|value| &value["summary"]), Some(&"no".into()));
}

#[test]
fn its_names_in_a_stored_conversation_stay() {
    let mut settling = stopped(&["a"]);
    settling.limited_until(Some(Timestamp::from_millis(7)));
    let stored = serde_json::to_value(&settling).unwrap();
    let names: Vec<&str> = stored.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["outcome", "resets", "stopping", "told"]);
    let end = serde_json::to_value(ends()).unwrap();
    let expected =
        serde_json::json!(["well", { "badly": "why" }, { "bounded": "why" }, { "limited": "why" }]);
    assert_eq!(end, expected);
}
