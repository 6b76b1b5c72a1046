//! The story: an epic, three agents, a mistake, a question, and a record that tells it all.

use serde_json::{Value, json};

use super::cast::{Actor, Teller, must, text};
use crate::app::{self, App};
use crate::client::Client;
use crate::render::good;
use crate::trouble::Trouble;

/// The three, and the human.
struct Crew<'a> {
    teller: Teller<'a>,
    human: Client,
    sam: Actor,
    ada: Actor,
    bob: Actor,
}

/// Plays it, and tells it as it happens.
pub(super) async fn tell(app: &App, url: &str, operator: &str) -> Result<(), Trouble> {
    let teller = Teller::new(app);
    teller.part("A server, and three agents that somebody else runs")?;
    teller.say("you", &format!("start a server at {url}"))?;
    let mut crew = enlist(teller, url, operator).await?;
    let tasks = crew.plan().await?;
    crew.work(&tasks).await?;
    crew.talk().await?;
    crew.err().await?;
    crew.ask_the_human().await?;
    crew.finish(&tasks).await?;
    crew.leave().await
}

/// Makes the three: a supervisor, and two workers under it.
async fn enlist<'a>(teller: Teller<'a>, url: &str, operator: &str) -> Result<Crew<'a>, Trouble> {
    let human = Client::new(url, Some(operator))?;
    let boss = human.post_json("/api/agents", &json!({ "role": "supervisor" })).await?;
    let mut sam = Actor::new("sam", url, &boss)?;
    let worker = json!({ "role": "worker", "parent": sam.id });
    let mut ada = Actor::new("ada", url, &human.post_json("/api/agents", &worker).await?)?;
    let bob = Actor::new("bob", url, &human.post_json("/api/agents", &worker).await?)?;
    let (many, few) = (sam.tool_count().await?, ada.tool_count().await?);
    must!(few < many && few > 0, "a worker sees fewer tools than a supervisor");
    teller
        .say("you", &format!("enlist sam, a supervisor: an MCP client that sees {many} tools"))?;
    teller.say("you", &format!("enlist ada and bob, workers, who see {few}"))?;
    Ok(Crew { teller, human, sam, ada, bob })
}

impl Crew<'_> {
    fn say(&self, who: &str, what: &str) -> Result<(), Trouble> {
        self.teller.say(who, what)
    }

    /// The supervisor plans. Returns the tasks: two that are free, and one that waits.
    async fn plan(&mut self) -> Result<[String; 3], Trouble> {
        self.teller.part("A plan")?;
        let epic = self.sam.does("epic.create", json!({ "title": "Ship the parser" })).await?;
        self.say("sam", "creates the epic \"Ship the parser\"")?;
        let mut made = Vec::new();
        for (title, priority) in
            [("Write the grammar", 1), ("Write the tokeniser", 2), ("Write the parser", 2)]
        {
            let mut input = json!({ "title": title, "epicId": epic["id"], "priority": priority });
            if title == "Write the parser" {
                input["dependsOn"] = json!(made);
            }
            let task = self.sam.does("task.create", input).await?;
            made.push(text(&task, "number"));
        }
        let [first, second, third] = [made[0].clone(), made[1].clone(), made[2].clone()];
        self.say("sam", &format!("creates {first}, {second}, and {third} which needs both"))?;
        let circle = json!({ "id": first, "depends_on": third });
        let said = self.sam.fails("session.task-update", circle, "CONFLICT").await?;
        self.say("sam", &format!("wants {first} to need {third}"))?;
        self.say("adjutant", &format!("refuses: {said}"))?;
        self.sam.does("task.assign", json!({ "taskId": first, "agentId": self.ada.id })).await?;
        self.say("sam", &format!("assigns {first} to ada"))?;
        Ok([first, second, third])
    }

    /// The workers take tasks; they never get the same one.
    async fn work(&mut self, [first, second, _]: &[String; 3]) -> Result<(), Trouble> {
        self.teller.part("Work")?;
        let claim = || json!({ "claim": true });
        let (ada, bob) = tokio::join!(
            self.ada.does("task.update_status", json!({ "status": "IN_PROGRESS" })),
            self.bob.does("session.task-next", claim()),
        );
        let (ada, bob) = (ada?, bob?);
        must!(ada["number"] == **first, "ada begins what she was given");
        must!(bob["task"]["id"] == **second, "bob gets the free task and not ada's");
        self.say("ada", &format!("begins {first}"))?;
        self.say(
            "bob",
            &format!("asks for the next task and claims {second} (claim {})", bob["claim"]),
        )?;
        let again = self.bob.does("session.task-next", json!({})).await?;
        must!(again["task"].is_null() || again["task"]["id"] == **second, "the third still waits");
        self.bob
            .does("task.add_comment", json!({ "body": "Tokens are borrowed, not copied" }))
            .await?;
        self.say("bob", &format!("remarks on {second}: \"Tokens are borrowed, not copied\""))?;
        let decision = json!({ "title": "Use recursive descent", "body": "The grammar is LL(1)" });
        self.ada.does("system.log_decision", decision).await?;
        self.say("ada", "logs a decision: \"Use recursive descent\"")
    }

    /// Mail between agents: the one who waits wakes at once.
    async fn talk(&mut self) -> Result<(), Trouble> {
        self.teller.part("Mail")?;
        let letter = json!({ "toAgentId": self.bob.id, "subject": "Token names",
            "body": "May I call them `Kind`?" });
        let began = self.teller.millis();
        let (received, sent) =
            tokio::join!(self.bob.next_letter(), self.ada.does("mail.send", letter));
        sent?;
        let received = received?;
        must!(received["fromAgentId"] == *self.ada.id, "the letter says who wrote it");
        self.say("ada", "writes to bob: \"May I call them `Kind`?\"")?;
        let waited = self.teller.millis() - began;
        self.say("bob", &format!("was waiting for mail and has it after {waited} ms"))?;
        let reply = json!({ "originalMailId": received["id"], "body": "Yes, Kind it is" });
        self.bob.does("mail.reply", reply).await?;
        let answer = self.ada.next_letter().await?;
        must!(answer["subject"] == "Re: Token names", "the answer has the subject");
        self.say("bob", "answers: \"Yes, Kind it is\"")
    }

    /// What is forbidden is refused; what fails again and again is escalated.
    async fn err(&mut self) -> Result<(), Trouble> {
        self.teller.part("Mistakes")?;
        let wish = json!({ "title": "Rewrite it all" });
        let said = self.bob.fails("task.create", wish, "PERMISSION_DENIED").await?;
        self.say("bob", "tries to create a task of his own")?;
        self.say("adjutant", &format!("refuses: {said}"))?;
        let theirs = json!({ "taskId": "TAS-1", "body": "I was here" });
        let said = self.bob.fails("task.add_comment", theirs, "PERMISSION_DENIED").await?;
        self.say("bob", "tries to remark on ada's task")?;
        self.say("adjutant", &format!("refuses: {said}"))?;
        for _ in 0..3 {
            let lost = json!({ "mailId": "mail_0000000000000000" });
            self.bob.fails("mail.read", lost, "RESOURCE_NOT_FOUND").await?;
        }
        self.say("bob", "tries three times to read a letter that does not exist")?;
        let alarm = self.sam.next_letter().await?;
        let subject = text(&alarm, "subject");
        must!(subject == "Tool Failure: mcp__mail__read", "the supervisor hears of it");
        self.say("sam", &format!("has mail: \"{subject}\""))?;
        let help = json!({ "originalMailId": alarm["id"], "body": "List your inbox first" });
        self.sam.does("mail.reply", help).await?;
        let help = self.bob.next_letter().await?;
        must!(help["body"] == "List your inbox first", "the supervisor's help arrives");
        self.say("sam", "helps: \"List your inbox first\"")
    }

    /// A question for the human, who answers from the command line's own tools.
    async fn ask_the_human(&mut self) -> Result<(), Trouble> {
        self.teller.part("A question for you")?;
        let question = json!({ "toHuman": true, "subject": "Unicode?",
            "body": "Shall names be Unicode?" });
        self.ada.does("mail.send", question).await?;
        self.say("ada", "writes to you: \"Shall names be Unicode?\"")?;
        let inbox = self.human_does("mcp__mail__list_inbox", json!({})).await?;
        must!(inbox["unreadCount"] == 1, "you have one new letter");
        let id = inbox["mails"][0]["id"].clone();
        let mail = self.human_does("mcp__mail__read", json!({ "mailId": id })).await?;
        must!(mail["fromAgentId"] == *self.ada.id, "you see who asks");
        let reply = json!({ "originalMailId": id, "body": "ASCII will do" });
        let (answer, replied) = tokio::join!(
            self.ada.next_letter(),
            app::call(&self.human, "mcp__mail__reply", &reply, None),
        );
        replied?;
        let answer = answer?;
        must!(answer["fromAgentType"] == "HUMAN", "the answer is from a human");
        self.say("you", "answer: \"ASCII will do\"")?;
        self.say("ada", "has your answer")
    }

    async fn human_does(&self, tool: &str, input: Value) -> Result<Value, Trouble> {
        app::call(&self.human, tool, &input, None).await
    }

    /// The work is handed in and approved, and what waited for it is free.
    async fn finish(&mut self, [first, second, third]: &[String; 3]) -> Result<(), Trouble> {
        self.teller.part("Done")?;
        let review = || json!({ "status": "REVIEW" });
        let (ada, bob) = tokio::join!(
            self.ada.does("task.update_status", review()),
            self.bob.does("task.update_status", review()),
        );
        ada?;
        bob?;
        self.say("ada", &format!("hands in {first}"))?;
        self.say("bob", &format!("hands in {second}"))?;
        for task in [first, second] {
            let done = json!({ "taskId": task, "status": "COMPLETED" });
            self.sam.does("task.update_status", done).await?;
        }
        self.say("sam", &format!("approves {first} and {second}; {third} is free now"))?;
        let claim = || json!({ "claim": true });
        let (ada, bob) = tokio::join!(
            self.ada.does("session.task-next", claim()),
            self.bob.does("session.task-next", claim()),
        );
        let got = [("ada", ada?), ("bob", bob?)];
        let winners: Vec<&str> = got
            .iter()
            .filter(|(_, answer)| answer["task"]["id"] == **third)
            .map(|(who, _)| *who)
            .collect();
        must!(winners.len() == 1, "of two who ask at once one gets the task");
        self.say("ada", "and bob ask for the next task in the same moment")?;
        self.say(winners[0], &format!("gets {third}; the other is told that there is none"))?;
        let winner = if winners[0] == "ada" { &mut self.ada } else { &mut self.bob };
        winner.does("task.update_status", review()).await?;
        let done = json!({ "taskId": third, "status": "COMPLETED" });
        self.sam.does("task.update_status", done).await?;
        self.say("sam", &format!("approves {third}"))
    }

    /// The agents go, and the record is checked.
    async fn leave(mut self) -> Result<(), Trouble> {
        self.teller.part("The record")?;
        let tasks = self.sam.does("task.list", json!({ "state": "COMPLETED" })).await?;
        let tasks = tasks["tasks"].as_array().map_or(0, Vec::len);
        must!(tasks == 3, "all three tasks are done");
        for actor in [&self.ada, &self.bob, &self.sam] {
            let path = format!("/api/agents/{}/discharge", actor.id);
            let gone =
                self.human.post_json(&path, &json!({ "reason": "the demo is over" })).await?;
            must!(gone["agentId"] == *actor.id, "an agent can be discharged");
        }
        self.say("you", "discharge all three")?;
        let void = self.ada.try_to("mail.list_inbox", json!({})).await;
        must!(void.is_err(), "a discharged agent's token is void");
        self.say("adjutant", "lets ada in no more: her token is void")?;
        let verdict = self.human.get_json("/api/audit/verify").await?;
        must!(verdict["ok"] == true, "the chain of the record holds");
        let events = self.human.get_json("/api/events?after=0&limit=1000").await?;
        let events = events["events"].as_array().map_or(0, Vec::len);
        let (rows, millis) = (verdict["rows"].clone(), self.teller.millis());
        let summary = json!({ "ok": true, "tasksCompleted": tasks, "events": events,
            "rows": rows, "head": verdict["head"], "durationMs": millis });
        let text = format!(
            "{} {tasks} tasks done, {events} events, {rows} calls in an unbroken hash chain\n\
             All of it over MCP, each agent with a token of its own, in {millis} ms.",
            good("ok")
        );
        self.teller.end(&summary, &text)
    }
}
