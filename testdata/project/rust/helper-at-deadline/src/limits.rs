use std::time::{Duration, Instant};

pub struct TooLate;

pub struct Deadline {
    end: Instant,
}

impl Deadline {
    pub fn after(time: Duration) -> Self {
        Deadline { end: Instant::now() + time }
    }

    pub fn check(&self) -> Result<(), TooLate> {
        if Instant::now() >= self.end { Err(TooLate) } else { Ok(()) }
    }
}
