-- Ways into the page: links that people open, and the tokens that tabs got for them.
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
CREATE INDEX pass_by_link ON pass (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX pass_by_end ON pass (expires_at);

-- What happened to an agent, for its lane and its timeline: only the few events of its own life.
CREATE INDEX event_of_agent ON event (agent_id, number)
    WHERE kind IN ('agent.created', 'agent.started', 'agent.state_changed', 'agent.stopping', 'agent.warned',
        'agent.asked', 'agent.finished', 'review.requested', 'review.feedback', 'review.ended', 'pull.opened',
        'merge.queued', 'merge.changed');
-- What happened to a task, for its history.
CREATE INDEX event_of_task ON event (task_id, number)
    WHERE kind IN ('task.created', 'task.assigned', 'task.updated', 'task.commented');

-- Who is over, newest first.
CREATE INDEX agent_ended ON agent (ended_at) WHERE ended_at IS NOT NULL;
-- Whom the operator started.
CREATE INDEX agent_roots ON agent (ended_at) WHERE parent_id IS NULL;

-- The board: a column, the most urgent first.
CREATE INDEX task_board ON task (state, priority, number);
-- How far an epic is.
CREATE INDEX task_of_epic ON task (epic_id, state, needs) WHERE epic_id IS NOT NULL;

-- Threads of letters, and what an agent wrote.
CREATE INDEX mail_by_reply ON mail (reply_to, number) WHERE reply_to IS NOT NULL;
CREATE INDEX mail_by_sender ON mail (from_agent_id, number) WHERE from_agent_id IS NOT NULL;
