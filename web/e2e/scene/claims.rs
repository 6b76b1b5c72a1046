//! Who holds a job, and until when.

use crate::tx::Tx;

/// Takes a job, if nobody holds it.
pub fn claim(tx: &mut Tx, task: TaskId, who: AgentId) -> Result<Claim, Claimed> {
    let row = tx.task(task)?;
    let fence = row.fence;
    if row.lease_until > now {
        return Err(Claimed { by: row.holder });
    }
    tx.set_holder(task, who, fence + 1)?;
    Ok(Claim { task, fence, until: now + LEASE })
}

/// Says what came of a job; a stale claim is refused.
pub fn report(tx: &mut Tx, claim: &Claim) -> Result<(), Fenced> {
    let row = tx.task(claim.task)?;
    if row.fence != claim.fence {
        return Err(Fenced);
    }
    tx.set_done(claim.task)
}
