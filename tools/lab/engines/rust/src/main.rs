//! rslock as an engine (tools/lab/engines/README.md), as its README has it: LockManager::new(uris), with its own delays
//! between attempts. It has no time to wait for a lock but a number of attempts, 100 ms apart on the average. A lock
//! ends by itself; extend() is called by hand or not at all. unlock() tells nothing of what it has done.
use rslock::{Lock, LockError, LockManager};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};

const RETRY_DELAY: Duration = Duration::from_millis(200); // its default, of which it waits a random part

struct Hold {
    lock: Lock,
    until: Instant,
}

type Holds = Arc<Mutex<HashMap<String, Hold>>>;

/// An instant of CLOCK_MONOTONIC, which is the clock of Instant on Linux.
fn ns(at: Instant) -> u128 {
    #[repr(C)]
    struct Timespec(i64, i64);
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    let mut time = Timespec(0, 0);
    unsafe { clock_gettime(1, &mut time) };
    let (now, reference) = (time.0 as u128 * 1_000_000_000 + time.1 as u128, Instant::now());
    now + at.saturating_duration_since(reference).as_nanos() - reference.saturating_duration_since(at).as_nanos()
}

fn decode(text: &str) -> String {
    let (bytes, mut out, mut i) = (text.as_bytes(), Vec::new(), 0);
    while i < bytes.len() {
        match text.get(i + 1..i + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[i] == b'%' => {
                out.push(byte);
                i += 3;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn encode(text: &str) -> String {
    let word: String = text
        .bytes()
        .map(|b| if b.is_ascii_graphic() && b != b'%' { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect();
    if word.is_empty() { "-".into() } else { word }
}

fn fail(text: &str) -> ! {
    println!("failed {}", encode(text));
    std::process::exit(1)
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| fail(&format!("{text} is no number")))
}

async fn acquire(mut manager: LockManager, holds: Holds, id: String, key: String, ttl: u64, timeout: u64) {
    let tries = 1 + timeout / (RETRY_DELAY.as_millis() as u64 / 2);
    manager.set_retry(tries as u32, RETRY_DELAY);
    let begun = Instant::now();
    let answer = manager.lock(key.as_bytes(), Duration::from_millis(ttl)).await;
    let done = Instant::now();
    match answer {
        Ok(lock) => {
            let until = done + Duration::from_millis(lock.validity_time as u64);
            holds.lock().unwrap().insert(id.clone(), Hold { lock, until });
            println!("acquired {id} {} {} until={}", ns(begun), ns(done), ns(until));
        }
        Err(error) => {
            let reason = if matches!(error, LockError::Unavailable) { "deadline" } else { "error" };
            println!("refused {id} {} {} {reason} {}", ns(begun), ns(done), encode(&error.to_string()));
        }
    }
}

fn valid(holds: &Holds, id: &str) {
    let begun = Instant::now();
    let table = holds.lock().unwrap();
    let hold = table.get(id).unwrap_or_else(|| fail(&format!("{id} is not held")));
    let left = hold.until.saturating_duration_since(begun).as_millis();
    println!("valid {id} {} {} {left}", ns(begun), ns(Instant::now()));
}

async fn release(manager: LockManager, hold: Hold, id: String) {
    let begun = Instant::now();
    let late = begun > hold.until;
    manager.unlock(&hold.lock).await;
    println!("released {id} {} {} {}", ns(begun), ns(Instant::now()), if late { "lost" } else { "ok" });
}

#[tokio::main]
async fn main() {
    let holds = Holds::default();
    let mut manager = None;
    let mut prefix = String::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let words: Vec<&str> = line.split(' ').collect();
        match (words[0], words.len(), &manager) {
            ("hello", _, _) => println!("hello 1 rslock {} can=lease on=redis:5", env!("CARGO_PKG_VERSION")),
            ("open", _, None) => {
                let settings: HashMap<&str, String> =
                    words[1..].iter().filter_map(|w| w.split_once('=')).map(|(n, v)| (n, decode(v))).collect();
                let nodes = settings.get("nodes").unwrap_or_else(|| fail("open without nodes"));
                prefix = settings.get("prefix").cloned().unwrap_or_default();
                manager = Some(LockManager::new(nodes.split(',').map(String::from).collect::<Vec<_>>()));
                println!("opened");
            }
            ("acquire", 5.., Some(manager)) => {
                let key = prefix.clone() + &decode(words[2]);
                let (ttl, timeout) = (number(words[3]), number(words[4]));
                tokio::spawn(acquire(manager.clone(), holds.clone(), words[1].into(), key, ttl, timeout));
            }
            ("valid", 2.., Some(_)) => valid(&holds, words[1]),
            ("release", 2.., Some(manager)) => match holds.lock().unwrap().remove(words[1]) {
                Some(hold) => drop(tokio::spawn(release(manager.clone(), hold, words[1].into()))),
                None => fail(&format!("{} is not held", words[1])),
            },
            ("bye", _, _) => {
                println!("bye");
                std::process::exit(0)
            }
            _ => fail(&format!("what is {}?", words[0])),
        }
    }
    std::process::exit(0) // the end of a holder
}
