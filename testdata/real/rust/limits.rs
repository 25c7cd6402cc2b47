//! The kinds of Rust code that the README's section "Limits" tells of, one each.
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

type Answer = reqwest::Result<reqwest::Response>;

struct Dial {
    client: reqwest::Client,
    dialled: Option<Pin<Box<dyn Future<Output = Answer>>>>,
}

impl Future for Dial {
    type Output = reqwest::Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let this = &mut *self;
            let client = this.client.clone();
            let dialled = this.dialled.get_or_insert_with(|| Box::pin(async move { client.get(ADDRESS).send().await }));
            match dialled.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(answer)) => return Poll::Ready(answer),
                Poll::Ready(Err(_)) => this.dialled = None,
            }
        }
    }
}

trait Pause {
    async fn pause(&self, turn: u32);
}

async fn with_a_pause_of_somebody_s(client: &reqwest::Client, pauses: &impl Pause) -> Answer {
    let mut turn = 0;
    loop { // site: cap=count max_attempts=4
        match client.get(ADDRESS).send().await {
            Err(_) if turn < 3 => turn += 1,
            answer => return answer,
        }
        pauses.pause(turn).await;
    }
}

macro_rules! until_it_is_there {
    ($dial:expr) => {
        loop { // site: remote=unknown cap=none delay=none
            if let Ok(answer) = $dial {
                break answer;
            }
        }
    };
}

fn by_a_macro(client: &reqwest::blocking::Client) -> reqwest::blocking::Response {
    until_it_is_there!(client.get(ADDRESS).send())
}
