use std::thread::sleep;
use std::time::Duration;

pub fn again<T, E>(tries: u32, mut call: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let mut attempt = 1;
    loop {
        match call() {
            Err(_) if attempt < tries => sleep(Duration::from_secs(1)),
            outcome => return outcome,
        }
        attempt += 1;
    }
}
