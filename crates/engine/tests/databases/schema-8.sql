BEGIN;
CREATE TABLE agent (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    role           TEXT NOT NULL,
    category       TEXT NOT NULL,
    kind           TEXT NOT NULL,
    parent_id      TEXT,
    depth          INTEGER NOT NULL,
    task_id        TEXT,
    epic_id        TEXT,
    session        TEXT,
    state          TEXT NOT NULL,
    reason         TEXT,
    limited_until  INTEGER,
    attempt        INTEGER NOT NULL,
    cwd            TEXT,
    tmux_session   TEXT,
    token_hash     TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    ended_at       INTEGER
, iteration INTEGER);
INSERT INTO "agent" VALUES(1,'sp_68798395c0e4cc6b','hand','worker','script',NULL,0,'task_68798395c0e4cc6c',NULL,NULL,'succeeded','done',NULL,1,'/project/.adjutant/worktrees/sp_68798395c0e4cc6b/',NULL,NULL,1794861061891,1794861061933,1794861061932,1794861061933,NULL);
INSERT INTO "agent" VALUES(2,'sp_687983a192124ad8','coder','coding','script',NULL,0,'task_687983a1923e6d48',NULL,NULL,'succeeded','done',NULL,1,'/project/.adjutant/worktrees/sp_687983a192124ad8/',NULL,NULL,1794861073992,1794861074027,1794861074025,1794861074027,NULL);
INSERT INTO "agent" VALUES(3,'sp_687983a19f202090','hand','worker','script',NULL,0,'task_687983a19f3ac6f5',NULL,NULL,'running',NULL,NULL,1,'/project/.adjutant/worktrees/sp_687983a19f202090/',NULL,'a3b73b46d1d4641f6664f9cbe10e411ee877fc29b35170439eca04f4e179d930',1794861074044,1794861074064,1794861074066,NULL,NULL);
INSERT INTO "agent" VALUES(4,'sp_687983a31902354b','hand','worker','script',NULL,0,'task_687983a3192ff4cf',NULL,NULL,'queued',NULL,NULL,1,NULL,NULL,NULL,1794861075556,1794861075556,1794861075556,NULL,NULL);
CREATE TABLE answered (
    principal TEXT NOT NULL,
    key       TEXT NOT NULL,
    tool      TEXT NOT NULL,
    input     TEXT NOT NULL,
    output    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
);
INSERT INTO "answered" VALUES('sp_68798395c0e4cc6b','sp_68798395c0e4cc6b-1-1','mcp__mail__send','043666774bdd143578701894ffaed3abd489c9c3620464cd3c58949efdc5210f','{"mailId":"mail_68798395cb08e831","timestamp":"2026-11-16T20:31:01.932Z"}',1794861061932);
INSERT INTO "answered" VALUES('sp_687983a192124ad8','sp_687983a192124ad8-1-1','mcp__mail__send','043666774bdd143578701894ffaed3abd489c9c3620464cd3c58949efdc5210f','{"mailId":"mail_687983a19a688c83","timestamp":"2026-11-16T20:31:14.025Z"}',1794861074025);
CREATE TABLE audit (
    number   INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    agent_id TEXT,
    tool     TEXT NOT NULL,
    code     TEXT,
    body     TEXT NOT NULL,
    hash     TEXT NOT NULL
);
INSERT INTO "audit" VALUES(1,1794861061892,'sp_68798395c0e4cc6b','operator__run',NULL,'{"number":1,"at":"2026-11-16T20:31:01.892Z","agentId":"sp_68798395c0e4cc6b","byOperator":true,"tool":"operator__run","code":null,"durationMicros":0,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"cwd":null,"kind":null,"prompt":"work","resume":null,"role":"hand","task":null,"wish":{"bare":false,"claims":"task","model":null,"notify":false,"onCap":"stop","schema":null,"timeout":60,"tools":null}},"output":{"agentId":"sp_68798395c0e4cc6b","taskSlug":"work-1116-2031"}}','07615d125bdf910fc88681b98ea2793c91c6bdc71d45f1e1b10a7753773968dd');
INSERT INTO "audit" VALUES(2,1794861061932,'sp_68798395c0e4cc6b','mcp__mail__send',NULL,'{"number":2,"at":"2026-11-16T20:31:01.932Z","agentId":"sp_68798395c0e4cc6b","byOperator":false,"tool":"mcp__mail__send","code":null,"durationMicros":620,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"body":"from the past","subject":"Hello","toHuman":true},"output":{"mailId":"mail_68798395cb08e831","timestamp":"2026-11-16T20:31:01.932Z"}}','ad895698b8a71dab1fe338cbada1246653fc845ad745142de9cea91cf6138fbb');
INSERT INTO "audit" VALUES(3,1794861061934,NULL,'mcp__harness__await_agent',NULL,'{"number":3,"at":"2026-11-16T20:31:01.934Z","agentId":null,"byOperator":true,"tool":"mcp__harness__await_agent","code":null,"durationMicros":30965,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"agentId":"sp_68798395c0e4cc6b","waitSeconds":60},"output":{"status":"completed","state":"succeeded","reason":"done","result":{"summary":"done","changes":["a"],"issues":[],"questions":[]}}}','82d8e3e41d65041f85c3b588075f416cd1507aeebecfe5289fff1f1ccf48cec5');
INSERT INTO "audit" VALUES(4,1794861073992,'sp_687983a192124ad8','operator__run',NULL,'{"number":4,"at":"2026-11-16T20:31:13.992Z","agentId":"sp_687983a192124ad8","byOperator":true,"tool":"operator__run","code":null,"durationMicros":0,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"cwd":null,"kind":null,"prompt":"work","resume":null,"role":"coder","task":null,"wish":{"bare":false,"claims":"task","model":null,"notify":false,"onCap":"stop","schema":null,"timeout":null,"tools":null}},"output":{"agentId":"sp_687983a192124ad8","taskSlug":"work-1116-2031-2"}}','72cd84f834ef7d8a41b4f1302818e5dda136b33fd3e39683331caa444c2630e7');
INSERT INTO "audit" VALUES(5,1794861074025,'sp_687983a192124ad8','mcp__mail__send',NULL,'{"number":5,"at":"2026-11-16T20:31:14.025Z","agentId":"sp_687983a192124ad8","byOperator":false,"tool":"mcp__mail__send","code":null,"durationMicros":163,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"body":"from the past","subject":"Hello","toHuman":true},"output":{"mailId":"mail_687983a19a688c83","timestamp":"2026-11-16T20:31:14.025Z"}}','34731ac485b4178ead9954a495e44d43b6bca8985a3544ddaf61ef2a845e5b8a');
INSERT INTO "audit" VALUES(6,1794861074027,NULL,'mcp__harness__await_agent',NULL,'{"number":6,"at":"2026-11-16T20:31:14.027Z","agentId":null,"byOperator":true,"tool":"mcp__harness__await_agent","code":null,"durationMicros":33852,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"agentId":"sp_687983a192124ad8","waitSeconds":60},"output":{"status":"completed","state":"succeeded","reason":"done","result":{"summary":"done","changes":["a"],"issues":[],"questions":[]}}}','64e4b4c01938acec580b277a879af64e5fdf9f2daf99a264631f9ee8f0e49140');
INSERT INTO "audit" VALUES(7,1794861074035,NULL,'mcp__task__create',NULL,'{"number":7,"at":"2026-11-16T20:31:14.035Z","agentId":null,"byOperator":true,"tool":"mcp__task__create","code":null,"durationMicros":162,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"title":"Old task"},"output":{"id":"task_687983a19cd571df","slug":"old-task-1116-2031","number":"TAS-3","title":"Old task","description":null,"state":"PENDING","storedState":"pending","priority":2,"dependsOn":[],"epicId":null,"assignedAgentId":null,"worktreePath":null,"branchName":null,"prUrl":null,"createdAt":"2026-11-16T20:31:14.035Z","updatedAt":"2026-11-16T20:31:14.035Z"}}','4832eacdd42fae61373a195dce453383b0818f7a94f0e52841a2f264e9435609');
INSERT INTO "audit" VALUES(8,1794861074044,'sp_687983a19f202090','operator__run',NULL,'{"number":8,"at":"2026-11-16T20:31:14.044Z","agentId":"sp_687983a19f202090","byOperator":true,"tool":"operator__run","code":null,"durationMicros":0,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"cwd":null,"kind":null,"prompt":"hang","resume":null,"role":"hand","task":null,"wish":{"bare":false,"claims":"task","model":null,"notify":false,"onCap":"stop","schema":null,"timeout":null,"tools":null}},"output":{"agentId":"sp_687983a19f202090","taskSlug":"hang-1116-2031"}}','ccc8093671f4c5e3787c011427756bf937399ff34e50464a62f29d20aec994a5');
INSERT INTO "audit" VALUES(9,1794861075556,'sp_687983a31902354b','operator__run',NULL,'{"number":9,"at":"2026-11-16T20:31:15.556Z","agentId":"sp_687983a31902354b","byOperator":true,"tool":"operator__run","code":null,"durationMicros":0,"gitCommit":"cd0388d73e80c73971f4904d20ef2582ae092345","input":{"cwd":null,"kind":null,"prompt":"work","resume":null,"role":"hand","task":null,"wish":{"bare":false,"claims":"task","model":"m","notify":false,"onCap":"stop","schema":null,"timeout":60,"tools":null}},"output":{"agentId":"sp_687983a31902354b","taskSlug":"work-1116-2031-3"}}','4c25651140958358261995b2f9a968669fb18d1c982cd7bc71ee25b117feb8a4');
CREATE TABLE audit_block (
    key   TEXT NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (key, block)
);
INSERT INTO "audit_block" VALUES('operator__run',0);
INSERT INTO "audit_block" VALUES('sp_68798395c0e4cc6b',0);
INSERT INTO "audit_block" VALUES('mcp__mail__send',0);
INSERT INTO "audit_block" VALUES('mcp__harness__await_agent',0);
INSERT INTO "audit_block" VALUES('sp_687983a192124ad8',0);
INSERT INTO "audit_block" VALUES('mcp__task__create',0);
INSERT INTO "audit_block" VALUES('sp_687983a19f202090',0);
INSERT INTO "audit_block" VALUES('sp_687983a31902354b',0);
CREATE TABLE budget (
    agent_id     TEXT PRIMARY KEY,
    cap_nanos    INTEGER,
    cap_tokens   INTEGER,
    cap_agents   INTEGER,
    cap_seconds  INTEGER,
    spent_nanos  INTEGER NOT NULL,
    spent_tokens INTEGER NOT NULL,
    spent_agents INTEGER NOT NULL,
    -- 1 once its own cap was passed and only a warning was wanted.
    warned       INTEGER NOT NULL
);
INSERT INTO "budget" VALUES('sp_68798395c0e4cc6b',10000000000,NULL,NULL,NULL,0,0,0,0);
INSERT INTO "budget" VALUES('sp_687983a192124ad8',10000000000,NULL,NULL,3600,0,0,0,0);
INSERT INTO "budget" VALUES('sp_687983a19f202090',10000000000,NULL,NULL,3600,20000000,1100,0,0);
INSERT INTO "budget" VALUES('sp_687983a31902354b',1000000000,NULL,NULL,NULL,0,0,0,0);
CREATE TABLE delivery (
    number      INTEGER PRIMARY KEY,
    -- What the receiver knows it by, at every try.
    id          TEXT NOT NULL UNIQUE,
    webhook     TEXT NOT NULL,
    event       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    -- Messages of one line are sent one after the other.
    line        TEXT NOT NULL,
    -- pending, delivered, dead
    state       TEXT NOT NULL,
    attempts    INTEGER NOT NULL,
    -- When it is tried; only the first of a line that is pending has a time.
    due_at      INTEGER,
    last_status INTEGER,
    last_error  TEXT,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
);
CREATE TABLE dispatch (
    task_number INTEGER NOT NULL,
    agent_id    TEXT NOT NULL,
    role        TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    status      TEXT,
    result      TEXT,
    PRIMARY KEY (task_number, agent_id)
);
INSERT INTO "dispatch" VALUES(1,'sp_68798395c0e4cc6b','hand',1794861061891,1794861061933,'completed','{"status":"success","summary":"done","changes":["a"],"issues":[],"questions":[],"text":"done"}');
INSERT INTO "dispatch" VALUES(2,'sp_687983a192124ad8','coder',1794861073992,1794861074027,'completed','{"status":"success","summary":"done","changes":["a"],"issues":[],"questions":[],"text":"done"}');
INSERT INTO "dispatch" VALUES(4,'sp_687983a19f202090','hand',1794861074044,NULL,NULL,NULL);
INSERT INTO "dispatch" VALUES(5,'sp_687983a31902354b','hand',1794861075556,NULL,NULL,NULL);
CREATE TABLE epic (
    number           INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    title            TEXT NOT NULL,
    description      TEXT,
    linear_issue_id  TEXT,
    linear_issue_url TEXT,
    state            TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    completed_at     INTEGER
);
CREATE TABLE errand (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    -- Errands of one lane are run one after the other.
    lane       TEXT NOT NULL,
    -- Whom it concerns, and who asked.
    agent_id   TEXT,
    caller_id  TEXT,
    -- What is wanted, and what is known of it so far, as JSON.
    wish       TEXT NOT NULL,
    notes      TEXT,
    -- How often it was begun, and when it may be begun again.
    tries      INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    -- What came of it, as JSON: an answer, or an error with its code.
    answer     TEXT,
    error      TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
);
INSERT INTO "errand" VALUES(1,'err_68798395cbb5d7fe','tidy','agent:sp_68798395c0e4cc6b','sp_68798395c0e4cc6b',NULL,'{}',NULL,0,1794861061933,'{"branch":"adjutant/sp_68798395c0e4cc6b","head":"cd0388d73e80c73971f4904d20ef2582ae092345","rescued":null,"worktree":"gone"}',NULL,1794861061933,1794861061998);
INSERT INTO "errand" VALUES(2,'err_687983a19afab69a','tidy','agent:sp_687983a192124ad8','sp_687983a192124ad8',NULL,'{}',NULL,0,1794861074027,'{"branch":"adjutant/sp_687983a192124ad8","head":"cd0388d73e80c73971f4904d20ef2582ae092345","rescued":null,"worktree":"gone"}',NULL,1794861074027,1794861074056);
CREATE TABLE escalation (
    agent_id TEXT NOT NULL,
    tool     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (agent_id, tool)
);
CREATE TABLE event (
    number   INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    agent_id TEXT,
    task_id  TEXT,
    data     TEXT NOT NULL
);
INSERT INTO "event" VALUES(1,'task.created',1794861061891,NULL,'task_68798395c0e4cc6c','{"epicId":null,"number":1,"priority":2,"session":"default","slug":"work-1116-2031","taskId":"task_68798395c0e4cc6c","title":"work"}');
INSERT INTO "event" VALUES(2,'agent.created',1794861061891,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"category":"worker","depth":0,"kind":"script","parentId":null,"resumedFrom":null,"role":"hand","summary":"work..."}');
INSERT INTO "event" VALUES(3,'task.updated',1794861061896,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"assignedAgentId":"sp_68798395c0e4cc6b","from":"pending","number":1,"priority":2,"reason":null,"slug":"work-1116-2031","taskId":"task_68798395c0e4cc6c","to":"in_progress"}');
INSERT INTO "event" VALUES(4,'agent.state_changed',1794861061896,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"attempt":1,"state":"starting"}');
INSERT INTO "event" VALUES(5,'worktree.changed',1794861061918,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"branch":"adjutant/sp_68798395c0e4cc6b","path":"/project/.adjutant/worktrees/sp_68798395c0e4cc6b","rescued":null,"state":"there"}');
INSERT INTO "event" VALUES(6,'agent.started',1794861061931,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"attempt":1,"category":"worker","folder":"/project/.adjutant/runs/sp_68798395c0e4cc6b/1","kind":"script","role":"hand"}');
INSERT INTO "event" VALUES(7,'mail.sent',1794861061932,'sp_68798395c0e4cc6b',NULL,'{"isForHuman":true,"mailId":"mail_68798395cb08e831","subject":"Hello","toAgentId":null}');
INSERT INTO "event" VALUES(8,'task.updated',1794861061933,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"assignedAgentId":"sp_68798395c0e4cc6b","from":"in_progress","number":1,"priority":2,"reason":null,"slug":"work-1116-2031","taskId":"task_68798395c0e4cc6c","to":"completed"}');
INSERT INTO "event" VALUES(9,'agent.finished',1794861061933,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"costUsd":null,"durationMs":37,"reason":"done","role":"hand","state":"succeeded","summary":"done","tokens":{"input":0,"output":0}}');
INSERT INTO "event" VALUES(10,'errand.created',1794861061933,'sp_68798395c0e4cc6b',NULL,'{"errandId":"err_68798395cbb5d7fe","kind":"tidy"}');
INSERT INTO "event" VALUES(11,'worktree.changed',1794861061998,'sp_68798395c0e4cc6b','task_68798395c0e4cc6c','{"branch":"adjutant/sp_68798395c0e4cc6b","path":"/project/.adjutant/worktrees/sp_68798395c0e4cc6b","rescued":null,"state":"gone"}');
INSERT INTO "event" VALUES(12,'errand.ended',1794861061998,'sp_68798395c0e4cc6b',NULL,'{"errandId":"err_68798395cbb5d7fe","kind":"tidy","status":"done"}');
INSERT INTO "event" VALUES(13,'task.created',1794861073992,NULL,'task_687983a1923e6d48','{"epicId":null,"number":2,"priority":2,"session":"default","slug":"work-1116-2031-2","taskId":"task_687983a1923e6d48","title":"work"}');
INSERT INTO "event" VALUES(14,'agent.created',1794861073992,'sp_687983a192124ad8','task_687983a1923e6d48','{"category":"coding","depth":0,"kind":"script","parentId":null,"resumedFrom":null,"role":"coder","summary":"work..."}');
INSERT INTO "event" VALUES(15,'task.updated',1794861073993,'sp_687983a192124ad8','task_687983a1923e6d48','{"assignedAgentId":"sp_687983a192124ad8","from":"pending","number":2,"priority":2,"reason":null,"slug":"work-1116-2031-2","taskId":"task_687983a1923e6d48","to":"in_progress"}');
INSERT INTO "event" VALUES(16,'agent.state_changed',1794861073993,'sp_687983a192124ad8','task_687983a1923e6d48','{"attempt":1,"state":"starting"}');
INSERT INTO "event" VALUES(17,'worktree.changed',1794861074011,'sp_687983a192124ad8','task_687983a1923e6d48','{"branch":"adjutant/sp_687983a192124ad8","path":"/project/.adjutant/worktrees/sp_687983a192124ad8","rescued":null,"state":"there"}');
INSERT INTO "event" VALUES(18,'agent.started',1794861074020,'sp_687983a192124ad8','task_687983a1923e6d48','{"attempt":1,"category":"coding","folder":"/project/.adjutant/runs/sp_687983a192124ad8/1","kind":"script","role":"coder"}');
INSERT INTO "event" VALUES(19,'mail.sent',1794861074025,'sp_687983a192124ad8',NULL,'{"isForHuman":true,"mailId":"mail_687983a19a688c83","subject":"Hello","toAgentId":null}');
INSERT INTO "event" VALUES(20,'task.updated',1794861074027,'sp_687983a192124ad8','task_687983a1923e6d48','{"assignedAgentId":"sp_687983a192124ad8","from":"in_progress","number":2,"priority":2,"reason":null,"slug":"work-1116-2031-2","taskId":"task_687983a1923e6d48","to":"completed"}');
INSERT INTO "event" VALUES(21,'agent.finished',1794861074027,'sp_687983a192124ad8','task_687983a1923e6d48','{"costUsd":null,"durationMs":34,"reason":"done","role":"coder","state":"succeeded","summary":"done","tokens":{"input":0,"output":0}}');
INSERT INTO "event" VALUES(22,'errand.created',1794861074027,'sp_687983a192124ad8',NULL,'{"errandId":"err_687983a19afab69a","kind":"tidy"}');
INSERT INTO "event" VALUES(23,'task.created',1794861074035,NULL,'task_687983a19cd571df','{"epicId":null,"number":3,"priority":2,"session":"default","slug":"old-task-1116-2031","taskId":"task_687983a19cd571df","title":"Old task"}');
INSERT INTO "event" VALUES(24,'task.created',1794861074044,NULL,'task_687983a19f3ac6f5','{"epicId":null,"number":4,"priority":2,"session":"default","slug":"hang-1116-2031","taskId":"task_687983a19f3ac6f5","title":"hang"}');
INSERT INTO "event" VALUES(25,'agent.created',1794861074044,'sp_687983a19f202090','task_687983a19f3ac6f5','{"category":"worker","depth":0,"kind":"script","parentId":null,"resumedFrom":null,"role":"hand","summary":"hang..."}');
INSERT INTO "event" VALUES(26,'task.updated',1794861074046,'sp_687983a19f202090','task_687983a19f3ac6f5','{"assignedAgentId":"sp_687983a19f202090","from":"pending","number":4,"priority":2,"reason":null,"slug":"hang-1116-2031","taskId":"task_687983a19f3ac6f5","to":"in_progress"}');
INSERT INTO "event" VALUES(27,'agent.state_changed',1794861074046,'sp_687983a19f202090','task_687983a19f3ac6f5','{"attempt":1,"state":"starting"}');
INSERT INTO "event" VALUES(28,'worktree.changed',1794861074056,'sp_687983a192124ad8','task_687983a1923e6d48','{"branch":"adjutant/sp_687983a192124ad8","path":"/project/.adjutant/worktrees/sp_687983a192124ad8","rescued":null,"state":"gone"}');
INSERT INTO "event" VALUES(29,'errand.ended',1794861074056,'sp_687983a192124ad8',NULL,'{"errandId":"err_687983a19afab69a","kind":"tidy","status":"done"}');
INSERT INTO "event" VALUES(30,'worktree.changed',1794861074060,'sp_687983a19f202090','task_687983a19f3ac6f5','{"branch":"adjutant/sp_687983a19f202090","path":"/project/.adjutant/worktrees/sp_687983a19f202090","rescued":null,"state":"there"}');
INSERT INTO "event" VALUES(31,'agent.started',1794861074064,'sp_687983a19f202090','task_687983a19f3ac6f5','{"attempt":1,"category":"worker","folder":"/project/.adjutant/runs/sp_687983a19f202090/1","kind":"script","role":"hand"}');
INSERT INTO "event" VALUES(32,'task.created',1794861075556,NULL,'task_687983a3192ff4cf','{"epicId":null,"number":5,"priority":2,"session":"default","slug":"work-1116-2031-3","taskId":"task_687983a3192ff4cf","title":"work"}');
INSERT INTO "event" VALUES(33,'agent.created',1794861075556,'sp_687983a31902354b','task_687983a3192ff4cf','{"category":"worker","depth":0,"kind":"script","parentId":null,"resumedFrom":null,"role":"hand","summary":"work..."}');
CREATE TABLE feedback (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    reviewer_id TEXT NOT NULL,
    coder_id    TEXT NOT NULL,
    kind        TEXT NOT NULL,
    priority    TEXT,
    body        TEXT NOT NULL,
    items       TEXT NOT NULL,
    mail_id     TEXT,
    -- Null until it is merged.
    commit_hash TEXT,
    created_at  INTEGER NOT NULL
);
CREATE TABLE github_issue (
    number     INTEGER PRIMARY KEY,
    -- What it is recognised by when it is asked for again.
    marker     TEXT NOT NULL UNIQUE,
    agent_id   TEXT,
    repository TEXT NOT NULL,
    issue      INTEGER NOT NULL,
    url        TEXT NOT NULL,
    title      TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE TABLE iteration (
    session    TEXT NOT NULL,
    number     INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    summary    TEXT, agent_id TEXT, outcome TEXT, reason TEXT, spent_nanos INTEGER, task_number INTEGER, commit_hash TEXT,
    PRIMARY KEY (session, number)
);
CREATE TABLE loop (
    number        INTEGER PRIMARY KEY,
    session       TEXT NOT NULL UNIQUE,
    -- running, paused, completed, limit, failed, stopped, over_budget
    state         TEXT NOT NULL,
    -- What it does at the moment, and how far it is in that: which hook comes next.
    phase         TEXT NOT NULL,
    step          INTEGER NOT NULL,
    -- The run of that hook which was begun, if one was, and how many there were.
    hook_run      INTEGER,
    hook_runs     INTEGER NOT NULL,
    -- pause or stop, where somebody wants it.
    wish          TEXT,
    -- Why it waits or ended.
    why           TEXT,
    -- The iteration it is in or had last, and the first one that is not made yet.
    iteration     INTEGER NOT NULL,
    next          INTEGER NOT NULL,
    agent_id      TEXT,
    -- The last iteration it may have; null is no limit.
    last          INTEGER,
    failures      INTEGER NOT NULL,
    most_failures INTEGER NOT NULL,
    role          TEXT NOT NULL,
    kind          TEXT,
    cwd           TEXT,
    extra         TEXT,
    spec_path     TEXT,
    spec          TEXT NOT NULL,
    -- Null is the one built in.
    template      TEXT,
    -- 1 where each iteration is committed.
    commits       INTEGER NOT NULL,
    cap_nanos     INTEGER,
    -- Completed tasks were looked for in every event up to this number.
    seen          INTEGER NOT NULL,
    -- What the next agent is told of a failure, as JSON.
    recovery      TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    ended_at      INTEGER
);
CREATE TABLE loop_message (
    number       INTEGER PRIMARY KEY,
    session      TEXT NOT NULL,
    -- operator, or the moment of the hook.
    source       TEXT NOT NULL,
    body         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    -- The iteration whose agent was told.
    iteration    INTEGER,
    delivered_at INTEGER
);
CREATE TABLE mail (
    number        INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    from_agent_id TEXT,
    from_category TEXT,
    -- The agent it is for, or `human`.
    recipient     TEXT NOT NULL,
    subject       TEXT NOT NULL,
    body          TEXT NOT NULL,
    reply_to      TEXT,
    created_at    INTEGER NOT NULL,
    read_at       INTEGER
);
INSERT INTO "mail" VALUES(1,'mail_68798395cb08e831','sp_68798395c0e4cc6b','worker','human','Hello','from the past',NULL,1794861061932,NULL);
INSERT INTO "mail" VALUES(2,'mail_687983a19a688c83','sp_687983a192124ad8','coding','human','Hello','from the past',NULL,1794861074025,NULL);
CREATE TABLE mcp_session (
    id         TEXT PRIMARY KEY,
    principal  TEXT NOT NULL,
    opening    TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE TABLE mcp_subscription (
    session_id TEXT NOT NULL,
    uri        TEXT NOT NULL,
    PRIMARY KEY (session_id, uri)
);
CREATE TABLE merge (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    task_id     TEXT NOT NULL,
    agent_id    TEXT,
    approved_by TEXT,
    branch      TEXT NOT NULL,
    target      TEXT NOT NULL,
    -- The commit that was approved, and the one it was merged as.
    commit_hash TEXT NOT NULL,
    merged_hash TEXT,
    -- queued, merging, merged, sent_back, held
    state       TEXT NOT NULL,
    -- Why it was sent back or is held, and what goes with it, as JSON.
    reason      TEXT,
    details     TEXT,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
);
CREATE TABLE note (
    number     INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    content    TEXT NOT NULL,
    iteration  INTEGER NOT NULL,
    agent_id   TEXT,
    created_at INTEGER NOT NULL
);
CREATE TABLE pass (
    id         TEXT PRIMARY KEY,
    -- Of the code in the link, or of the token.
    hash       TEXT NOT NULL UNIQUE,
    -- link, tab
    kind       TEXT NOT NULL,
    -- operator, viewer
    rights     TEXT NOT NULL,
    -- How often it may still be used; null is as often as wanted.
    uses_left  INTEGER,
    -- The link that a tab came by.
    link_id    TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE TABLE plan (
    number         INTEGER PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE,
    title          TEXT NOT NULL,
    -- Where its file was, what it said, and the hash of that.
    path           TEXT NOT NULL,
    text           TEXT NOT NULL,
    hash           TEXT NOT NULL,
    -- running, completed, failed, stopped, over_budget
    state          TEXT NOT NULL,
    -- Why it is over.
    why            TEXT,
    -- Who runs it: in which role, as which kind where somebody chose one.
    role           TEXT NOT NULL,
    kind           TEXT,
    -- The task of whoever runs it, beside those of the steps.
    task_id        TEXT NOT NULL,
    -- Whoever runs it, or ran it last.
    coordinator_id TEXT NOT NULL,
    -- Coordinators in a row under whom no step was closed, and how many steps were when the last of them began.
    tries          INTEGER NOT NULL,
    closed         INTEGER NOT NULL,
    -- What all of it may cost; null is no cap.
    cap_nanos      INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    ended_at       INTEGER
);
CREATE TABLE plan_coordinator (
    agent_id    TEXT PRIMARY KEY,
    plan_number INTEGER NOT NULL,
    begun_at    INTEGER NOT NULL
);
CREATE TABLE plan_step (
    plan_number INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    task_id     TEXT NOT NULL,
    -- In which role, and what whoever works on it may spend, where the plan says so.
    role        TEXT,
    cap_nanos   INTEGER,
    PRIMARY KEY (plan_number, number)
);
CREATE TABLE pull_request (
    number     INTEGER PRIMARY KEY,
    -- Whose branch it is, and who opened it.
    agent_id   TEXT NOT NULL,
    opened_by  TEXT,
    epic_id    TEXT,
    repository TEXT NOT NULL,
    pull       INTEGER NOT NULL,
    url        TEXT NOT NULL,
    branch     TEXT NOT NULL,
    base       TEXT NOT NULL,
    title      TEXT NOT NULL,
    -- open, merged, closed
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (repository, pull)
);
CREATE TABLE question (
    agent_id TEXT NOT NULL,
    request  TEXT NOT NULL,
    mail_id  TEXT NOT NULL,
    tool     TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    -- `allow`, or `deny` and why.
    answer   TEXT,
    PRIMARY KEY (agent_id, request)
);
CREATE TABLE reservation (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    agent_id   TEXT NOT NULL,
    pattern    TEXT NOT NULL,
    reason     TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE TABLE review (
    number      INTEGER PRIMARY KEY,
    coder_id    TEXT NOT NULL,
    reviewer_id TEXT NOT NULL UNIQUE,
    iteration   INTEGER NOT NULL,
    branch      TEXT NOT NULL,
    -- The commit that is looked at.
    commit_hash TEXT NOT NULL,
    message     TEXT,
    -- preparing, open, feedback, approved, silent, timed_out, undone
    state       TEXT NOT NULL,
    -- 1 if it counts as a failed one.
    failed      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
);
CREATE TABLE review_allowance (
    coder_id TEXT PRIMARY KEY,
    more     INTEGER NOT NULL
);
CREATE TABLE run (
    agent_id     TEXT PRIMARY KEY,
    prompt       TEXT NOT NULL,
    -- What it is about, in a line.
    summary      TEXT NOT NULL,
    -- Everything else it was asked with, as JSON.
    wish         TEXT NOT NULL,
    resumed_from TEXT,
    -- The model that answers it.
    model        TEXT,
    -- The name by which a later process goes on with the conversation.
    conversation TEXT,
    -- How far its output was read, and what the reader remembered there.
    segment      INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    notes        TEXT,
    -- The wish to end it, remembered before it is done.
    stop_outcome TEXT,
    stop_reason  TEXT,
    started_at   INTEGER,
    -- When it must be over, whoever set the bound.
    deadline_at  INTEGER,
    -- How long its earlier attempts ran.
    ran_ms       INTEGER NOT NULL,
    result       TEXT,
    -- What it used itself. Unknown costs are null.
    cost_nanos   INTEGER,
    tokens_in    INTEGER NOT NULL,
    tokens_out   INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL
, parked_at INTEGER, next_prompt TEXT);
INSERT INTO "run" VALUES('sp_68798395c0e4cc6b','work','work...','{"model":null,"tools":null,"timeout":60,"bare":false,"schema":null,"notify":false,"onCap":"stop","claims":"task"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL,1794861061896,NULL,0,'{"status":"success","summary":"done","changes":["a"],"issues":[],"questions":[],"text":"done"}',NULL,0,0,0,0,NULL,NULL);
INSERT INTO "run" VALUES('sp_687983a192124ad8','work','work...','{"model":null,"tools":null,"timeout":null,"bare":false,"schema":null,"notify":false,"onCap":"stop","claims":"task"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL,1794861073993,1794864673993,0,'{"status":"success","summary":"done","changes":["a"],"issues":[],"questions":[],"text":"done"}',NULL,0,0,0,0,NULL,NULL);
INSERT INTO "run" VALUES('sp_687983a19f202090','hang','hang...','{"model":null,"tools":null,"timeout":null,"bare":false,"schema":null,"notify":false,"onCap":"stop","claims":"task"}',NULL,NULL,NULL,0,171,'{"talk":"{\"tail\":\"burnt\\n\",\"result\":null,\"cost\":20000000}","began":true,"said":0,"base":"cd0388d73e80c73971f4904d20ef2582ae092345","habits":{"calls":[],"errors":[],"warned":[]},"charged":20000000,"limited":null,"open":{},"done":null,"errors":"","warnings":0,"model":null}',NULL,NULL,1794861074046,1794864674046,0,NULL,20000000,1000,100,0,0,NULL,NULL);
INSERT INTO "run" VALUES('sp_687983a31902354b','work','work...','{"model":"m","tools":null,"timeout":60,"bare":false,"schema":null,"notify":false,"onCap":"stop","claims":"task"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,0,0,0,NULL,NULL);
CREATE TABLE session (
    name         TEXT PRIMARY KEY,
    iteration    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    completed_at INTEGER
);
INSERT INTO "session" VALUES('default',0,1794861061891,NULL);
CREATE TABLE slack_channel (
    channel TEXT PRIMARY KEY,
    -- Messages up to this one were read.
    seen    TEXT NOT NULL
);
CREATE TABLE slack_cursor (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    events INTEGER NOT NULL
);
CREATE TABLE slack_message (
    number     INTEGER PRIMARY KEY,
    channel    TEXT NOT NULL,
    ts         TEXT NOT NULL,
    -- The message with which its thread begins.
    thread     TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    text       TEXT NOT NULL,
    -- When it is acted on, with what was said just before and after; none once it was.
    due_at     INTEGER,
    created_at INTEGER NOT NULL,
    UNIQUE (channel, ts)
);
CREATE TABLE slack_order (
    agent   TEXT PRIMARY KEY,
    thread  INTEGER NOT NULL,
    ts      TEXT NOT NULL,
    user_id TEXT NOT NULL,
    -- The reaction that the message carries.
    mark    TEXT
);
CREATE TABLE slack_out (
    number     INTEGER PRIMARY KEY,
    -- What we know it by in Slack.
    id         TEXT NOT NULL UNIQUE,
    channel    TEXT NOT NULL,
    thread     TEXT NOT NULL,
    -- post, mark, unmark
    kind       TEXT NOT NULL,
    -- The text, or the message that gets or loses a reaction.
    body       TEXT NOT NULL,
    -- In whose name, or which reaction.
    name       TEXT,
    -- The letter that it tells of.
    mail       TEXT,
    -- pending, sent, dead
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    -- When it is tried; only the first of a thread that is pending has a time.
    due_at     INTEGER,
    -- When a try began of which nobody knows how it ended.
    begun_at   INTEGER,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
);
CREATE TABLE slack_thread (
    number     INTEGER PRIMARY KEY,
    channel    TEXT NOT NULL,
    ts         TEXT NOT NULL,
    -- Who began it.
    user_id    TEXT NOT NULL,
    -- Both are missing while it is not known who is to do it; then the text waits.
    role       TEXT,
    task       TEXT,
    cwd        TEXT,
    text       TEXT,
    -- Replies up to this one were read.
    seen       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    UNIQUE (channel, ts)
);
CREATE TABLE spend (
    agent_id    TEXT NOT NULL,
    model       TEXT NOT NULL,
    hour        INTEGER NOT NULL,
    nanos       INTEGER NOT NULL,
    tokens_in   INTEGER NOT NULL,
    tokens_out  INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    PRIMARY KEY (agent_id, model, hour)
);
INSERT INTO "spend" VALUES('sp_687983a19f202090','script',1794859200000,20000000,1000,100,0,0);
CREATE TABLE task (
    number            INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    slug              TEXT NOT NULL UNIQUE,
    session           TEXT NOT NULL,
    title             TEXT NOT NULL,
    description       TEXT,
    state             TEXT NOT NULL,
    reason            TEXT,
    priority          INTEGER NOT NULL,
    epic_id           TEXT,
    assigned_agent_id TEXT,
    claim_agent_id    TEXT,
    claim_attempt     INTEGER,
    claim_number      INTEGER NOT NULL,
    attempts          INTEGER NOT NULL,
    -- How many tasks it depends on, so that most lists need not ask which.
    needs             INTEGER NOT NULL,
    worktree_path     TEXT,
    branch_name       TEXT,
    pr_url            TEXT,
    iteration         INTEGER NOT NULL,
    -- The title as it is compared with others; null once the task is closed.
    content_key       TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
);
INSERT INTO "task" VALUES(1,'task_68798395c0e4cc6c','work-1116-2031','default','work',NULL,'completed',NULL,2,NULL,'sp_68798395c0e4cc6b',NULL,NULL,1,0,0,'/project/.adjutant/worktrees/sp_68798395c0e4cc6b','adjutant/sp_68798395c0e4cc6b',NULL,0,NULL,1794861061891,1794861061933);
INSERT INTO "task" VALUES(2,'task_687983a1923e6d48','work-1116-2031-2','default','work',NULL,'completed',NULL,2,NULL,'sp_687983a192124ad8',NULL,NULL,1,0,0,'/project/.adjutant/worktrees/sp_687983a192124ad8','adjutant/sp_687983a192124ad8',NULL,0,NULL,1794861073992,1794861074027);
INSERT INTO "task" VALUES(3,'task_687983a19cd571df','old-task-1116-2031','default','Old task',NULL,'pending',NULL,2,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,'old task',1794861074035,1794861074035);
INSERT INTO "task" VALUES(4,'task_687983a19f3ac6f5','hang-1116-2031','default','hang',NULL,'in_progress',NULL,2,NULL,'sp_687983a19f202090','sp_687983a19f202090',1,1,0,0,'/project/.adjutant/worktrees/sp_687983a19f202090','adjutant/sp_687983a19f202090',NULL,0,'hang',1794861074044,1794861074048);
INSERT INTO "task" VALUES(5,'task_687983a3192ff4cf','work-1116-2031-3','default','work',NULL,'pending',NULL,2,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,'work',1794861075556,1794861075556);
CREATE TABLE task_comment (
    number      INTEGER PRIMARY KEY,
    task_number INTEGER NOT NULL,
    agent_id    TEXT,
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
);
CREATE TABLE task_dependency (
    task_number  INTEGER NOT NULL,
    needs_number INTEGER NOT NULL,
    PRIMARY KEY (task_number, needs_number)
);
CREATE TABLE tool_use (
    agent_id TEXT NOT NULL,
    tool     TEXT NOT NULL,
    calls    INTEGER NOT NULL,
    errors   INTEGER NOT NULL,
    micros   INTEGER NOT NULL,
    PRIMARY KEY (agent_id, tool)
);
INSERT INTO "tool_use" VALUES('sp_68798395c0e4cc6b','mcp__mail__send',1,0,620);
INSERT INTO "tool_use" VALUES('sp_687983a192124ad8','mcp__mail__send',1,0,163);
CREATE TABLE webhook (
    name           TEXT PRIMARY KEY,
    -- Every event up to this number has been looked at.
    seen           INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    -- When a message was last taken, and when one last was not.
    last_ok_at     INTEGER,
    last_failed_at INTEGER,
    -- What came of the last try; no status where there was no answer.
    last_status    INTEGER,
    last_error     TEXT,
    -- Since when nothing is sent, why, and of which address (its hash) that was said.
    disabled_at    INTEGER,
    disabled_why   TEXT,
    disabled_for   TEXT,
    -- Since when the configuration does not name it.
    gone_at        INTEGER
);
CREATE TABLE worktree (
    number      INTEGER PRIMARY KEY,
    -- Who works in it, or worked in it last.
    agent_id    TEXT NOT NULL UNIQUE,
    path        TEXT NOT NULL,
    branch      TEXT NOT NULL,
    -- The commit it began from, and the branch its work is meant for.
    base        TEXT NOT NULL,
    target      TEXT,
    -- wanted, there, going, gone
    state       TEXT NOT NULL,
    -- 1 once it is to be taken away as soon as nobody works in it.
    unwanted    INTEGER NOT NULL,
    -- Where the branch stood when the worktree was taken away, and what was left uncommitted in it.
    head        TEXT,
    rescued     TEXT,
    created_at  INTEGER NOT NULL,
    gone_at     INTEGER
);
INSERT INTO "worktree" VALUES(1,'sp_68798395c0e4cc6b','/project/.adjutant/worktrees/sp_68798395c0e4cc6b','adjutant/sp_68798395c0e4cc6b','cd0388d73e80c73971f4904d20ef2582ae092345','main','gone',0,'cd0388d73e80c73971f4904d20ef2582ae092345',NULL,1794861061907,1794861061998);
INSERT INTO "worktree" VALUES(2,'sp_687983a192124ad8','/project/.adjutant/worktrees/sp_687983a192124ad8','adjutant/sp_687983a192124ad8','cd0388d73e80c73971f4904d20ef2582ae092345','main','gone',0,'cd0388d73e80c73971f4904d20ef2582ae092345',NULL,1794861073996,1794861074056);
INSERT INTO "worktree" VALUES(3,'sp_687983a19f202090','/project/.adjutant/worktrees/sp_687983a19f202090','adjutant/sp_687983a19f202090','cd0388d73e80c73971f4904d20ef2582ae092345','main','there',0,NULL,NULL,1794861074048,NULL);
CREATE UNIQUE INDEX agent_by_token ON agent (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX agent_live ON agent (number) WHERE ended_at IS NULL;
CREATE INDEX agent_by_epic ON agent (epic_id, category) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX epic_by_linear ON epic (linear_issue_id) WHERE linear_issue_id IS NOT NULL;
CREATE INDEX task_by_state ON task (state, number);
CREATE INDEX task_by_epic ON task (epic_id, number) WHERE epic_id IS NOT NULL;
CREATE INDEX task_next ON task (session, state, priority, number);
CREATE INDEX task_by_session ON task (session, number);
CREATE INDEX task_claimed ON task (claim_agent_id) WHERE claim_agent_id IS NOT NULL;
CREATE INDEX task_by_content ON task (session, content_key) WHERE content_key IS NOT NULL;
CREATE INDEX task_needed_by ON task_dependency (needs_number, task_number);
CREATE INDEX comment_by_task ON task_comment (task_number, number);
CREATE INDEX dispatch_by_agent ON dispatch (agent_id);
CREATE INDEX note_by_session ON note (session, number);
CREATE INDEX note_by_kind ON note (session, kind, number);
CREATE INDEX mail_inbox ON mail (recipient, number);
CREATE INDEX mail_unread ON mail (recipient, number) WHERE read_at IS NULL;
CREATE INDEX event_by_kind ON event (kind, number);
CREATE INDEX audit_failures ON audit (agent_id, tool, at) WHERE code IS NOT NULL;
CREATE INDEX mcp_session_by_principal ON mcp_session (principal);
CREATE INDEX run_resumed ON run (resumed_from) WHERE resumed_from IS NOT NULL;
CREATE INDEX agent_queued ON agent (depth DESC, number) WHERE state = 'queued';
CREATE INDEX agent_by_parent ON agent (parent_id, number) WHERE parent_id IS NOT NULL;
CREATE INDEX agent_by_task ON agent (task_id, number) WHERE task_id IS NOT NULL;
CREATE INDEX spend_by_hour ON spend (hour);
CREATE INDEX question_by_mail ON question (mail_id);
CREATE INDEX answered_by_time ON answered (at);
CREATE INDEX errand_open ON errand (number) WHERE ended_at IS NULL;
CREATE INDEX errand_by_agent ON errand (agent_id, number) WHERE agent_id IS NOT NULL;
CREATE INDEX worktree_there ON worktree (number) WHERE state <> 'gone';
CREATE INDEX review_by_coder ON review (coder_id, iteration);
CREATE INDEX review_open ON review (number) WHERE ended_at IS NULL;
CREATE INDEX feedback_by_coder ON feedback (coder_id, number);
CREATE INDEX feedback_by_reviewer ON feedback (reviewer_id);
CREATE INDEX feedback_waiting ON feedback (coder_id) WHERE commit_hash IS NULL;
CREATE INDEX pull_by_agent ON pull_request (agent_id, number);
CREATE INDEX pull_open ON pull_request (number) WHERE state = 'open';
CREATE INDEX merge_open ON merge (number) WHERE ended_at IS NULL;
CREATE INDEX merge_by_task ON merge (task_id, number);
CREATE INDEX reservation_by_agent ON reservation (agent_id);
CREATE INDEX reservation_by_end ON reservation (expires_at);
CREATE INDEX agent_supervisors ON agent (number) WHERE category = 'supervisor' AND ended_at IS NULL;
CREATE INDEX pass_by_link ON pass (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX pass_by_end ON pass (expires_at);
CREATE INDEX event_of_agent ON event (agent_id, number)
    WHERE kind IN ('agent.created', 'agent.started', 'agent.state_changed', 'agent.stopping', 'agent.warned',
        'agent.asked', 'agent.finished', 'review.requested', 'review.feedback', 'review.ended', 'pull.opened',
        'merge.queued', 'merge.changed');
CREATE INDEX event_of_task ON event (task_id, number)
    WHERE kind IN ('task.created', 'task.assigned', 'task.updated', 'task.commented');
CREATE INDEX agent_ended ON agent (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX agent_roots ON agent (ended_at) WHERE parent_id IS NULL;
CREATE INDEX task_board ON task (state, priority, number);
CREATE INDEX task_of_epic ON task (epic_id, state, needs) WHERE epic_id IS NOT NULL;
CREATE INDEX mail_by_reply ON mail (reply_to, number) WHERE reply_to IS NOT NULL;
CREATE INDEX mail_by_sender ON mail (from_agent_id, number) WHERE from_agent_id IS NOT NULL;
CREATE INDEX delivery_due ON delivery (webhook, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_line ON delivery (webhook, line, number) WHERE state = 'pending';
CREATE INDEX delivery_list ON delivery (webhook, state, number);
CREATE INDEX loop_live ON loop (number) WHERE state = 'running' OR phase = 'closing';
CREATE INDEX loop_message_waiting ON loop_message (session, number) WHERE delivered_at IS NULL;
CREATE INDEX loop_message_list ON loop_message (session, number);
CREATE INDEX plan_live ON plan (number) WHERE ended_at IS NULL;
CREATE INDEX plan_by_hash ON plan (hash, number);
CREATE INDEX plan_coordinator_by_plan ON plan_coordinator (plan_number, begun_at);
CREATE INDEX plan_step_by_task ON plan_step (task_id);
CREATE INDEX slack_message_due ON slack_message (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX slack_message_waiting ON slack_message (channel, thread, user_id) WHERE due_at IS NOT NULL;
CREATE INDEX slack_message_by ON slack_message (channel, user_id) WHERE due_at IS NOT NULL;
CREATE INDEX slack_thread_task ON slack_thread (task) WHERE task IS NOT NULL;
CREATE INDEX slack_thread_changed ON slack_thread (changed_at);
CREATE INDEX slack_order_thread ON slack_order (thread);
CREATE INDEX slack_out_due ON slack_out (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX slack_out_line ON slack_out (channel, thread, number) WHERE state = 'pending';
CREATE INDEX slack_out_state ON slack_out (state, number);
CREATE INDEX slack_out_mail ON slack_out (channel, thread, number) WHERE mail IS NOT NULL;
COMMIT;
PRAGMA user_version = 8;
