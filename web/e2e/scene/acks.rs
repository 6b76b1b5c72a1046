//! Acks, one at a time.

pub fn flush(&mut self, tx: &mut Tx) -> Result<usize> {
    for ack in self.pending.drain(..) {
        tx.ack(ack.job, ack.fence)?;
        self.done += 1;
    }
    Ok(self.done)
}
