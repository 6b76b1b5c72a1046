//! Tests of valid and refused webhooks.

use super::*;
use crate::config::Config;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn read(item: &str) -> Result<Webhook, String> {
    let text = format!("mirror: true\nwebhooks:\n  - {item}\n");
    let config = Config::parse("c", &text).map_err(|problem| problem.to_string())?;
    Ok(config.webhooks.into_iter().next().unwrap())
}

#[test]
fn what_is_left_out_has_its_default_and_old_names_are_taken() {
    let hook = read("{name: n8n, url: 'http://localhost:5678/webhook/x'}").unwrap();
    assert_eq!(
        (hook.kinds.as_slice(), hook.form, hook.attempts),
        (&["*".to_owned()][..], WebhookForm::Standard, 10)
    );
    let env = Environment::from_vars("/here", [("KEY", SECRET), ("BAD", "sesame")]);
    let settings = hook.settings(&env);
    assert_eq!((settings.kinds.as_slice(), settings.key), (EventKind::ALL, WebhookKey::None));
    let old = "{name: a, url: 'https://a.example', events: [agent.*, task.updated], secretEnv: KEY, form: plain}";
    let settings = read(old).unwrap().settings(&env);
    assert!(
        settings.kinds.contains(&EventKind::TaskUpdated)
            && !settings.kinds.contains(&EventKind::TaskCreated)
    );
    assert_eq!(settings.problem(), None);
    let lacks = read("{name: a, url: 'https://a.example', secretVariable: NONE}").unwrap();
    assert_eq!(lacks.settings(&env).problem().unwrap(), "the variable `NONE` is not set");
    let wrong = read("{name: a, url: 'https://a.example', secretVariable: BAD}").unwrap();
    let problem = wrong.settings(&env).problem().unwrap();
    assert!(problem.starts_with("the variable `BAD` must be `whsec_` and"), "{problem}");
    assert!(!problem.contains("sesame"));
}

#[test]
fn what_cannot_be_is_refused_and_no_secret_repeated() {
    let url = "url: 'https://a.example/x'";
    for (item, expected) in [
        ("{url: 'https://a.example'}".to_owned(), "`name` is missing"),
        (format!("{{name: 'a b', {url}}}"), "must be a name of up to 64 letters"),
        ("{name: a, url: nowhere}".to_owned(), "must be an address, as"),
        ("{name: a, url: 'https://me:word@a.example'}".to_owned(), "without a name and a password"),
        (format!("{{name: a, {url}, kinds: [agent.finishd]}}"), "did you mean `agent.finished`?"),
        (format!("{{name: a, {url}, kinds: []}}"), "leave it out for all of them"),
        (format!("{{name: a, {url}, attempts: 0}}"), "0 is not between 1 and 20"),
        (format!("{{name: a, {url}, secret: sesame}}"), "the `secret` of `a` must be `whsec_` and"),
        (format!("{{name: a, {url}, secret: {SECRET}, secretVariable: B}}"), "keep one"),
        (format!("{{name: a, {url}, secretVariable: '{SECRET}+/'}}"), "the name of a variable"),
        (format!("{{name: a, {url}, form: inngest}}"), "needs Inngest's event key"),
        (format!("{{name: a, {url}, form: rss}}"), "`rss` is not known here"),
        (format!("{{name: a, {url}, key: b}}"), "unknown key `key`"),
        (format!("{{name: a, {url}}}\n  - {{name: a, {url}}}"), "two webhooks are called `a`"),
    ] {
        let error = read(&item).unwrap_err();
        assert!(error.contains(expected), "{item}: {error}");
        assert!(!error.contains("sesame") && !error.contains("word@") && !error.contains(SECRET));
        assert!(error.starts_with("c:"), "it names the line: {error}");
    }
}

#[test]
fn a_secret_is_not_shown_by_accident() {
    let hook = read(&format!("{{name: a, url: 'https://a.example', secret: {SECRET}}}")).unwrap();
    assert!(!format!("{hook:?}").contains(SECRET));
    let env = Environment::default();
    assert!(!format!("{:?}", hook.settings(&env)).contains(SECRET));
    let mut value = serde_json::to_value(&hook).unwrap();
    crate::config::hide(&mut value);
    assert_eq!(value["secret"], "…");
}
