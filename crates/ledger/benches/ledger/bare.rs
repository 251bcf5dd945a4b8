//! Scripts that read and write what the ledger's do, and decide nothing: what Redis and Lua cost by themselves.

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Script};
use testkit::redis::Redis;

use crate::{Failure, script_time};

/// The generation and three accounts.
const READS: &str = "#!lua
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local m = redis.call('HMGET', KEYS[1], 'run', 'window', 'evictions', 'state')
for i = 2, 4 do
  redis.call('HMGET', KEYS[i], 'window', 'trusted', 'incarnation', 'version', 'total', 'credit', 'limit', 'used', 'frozen',
    'status', 'valid_until', 'limits', 'lapse_version', 'lapsed', 'old')
end
return { 'OK', m[1] or run }";

/// KEYS: marker, three accounts, freezes, index. ARGV: request, the freeze.
const FREEZE: &str = "
redis.call('HGET', KEYS[5], ARGV[1])
redis.call('HLEN', KEYS[5])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[6], 1767225600000, ARGV[1])
for i = 2, 4 do redis.call('HSET', KEYS[i], 'frozen', '1000', 'old', '0', 'updated_at', '1767225600000') end
return { 'FROZEN' }";

const SETTLE: &str = "
redis.call('HGET', KEYS[5], ARGV[1])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[6], 1767225600000, ARGV[1])
for i = 2, 4 do redis.call('HSET', KEYS[i], 'frozen', '700', 'old', '0', 'updated_at', '1767225600000') end
return { 'OK' }";

const CONFIRM: &str = "
redis.call('HGET', KEYS[5], ARGV[1])
for i = 2, 4 do
  redis.call('HSET', KEYS[i], 'window', ARGV[3], 'trusted', '1', 'incarnation', '1', 'version', '1', 'total', '1000000000000',
    'credit', '0', 'limit', '1000000000000', 'used', '0', 'frozen', '0', 'status', 'active', 'valid_until', '', 'lapse_version',
    '0', 'lapsed', '0', 'old', '0', 'limits', '', 'updated_at', '1767225600000')
end
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('ZREM', KEYS[6], ARGV[1])
return { 'OK' }";

fn keys(number: usize) -> Vec<String> {
    ["m", "a:1", "a:2", "a:3", "f", "i"].iter().map(|name| format!("bare:{{{number}}}:{name}")).collect()
}

/// Mean server time of the reads alone, in microseconds.
pub fn reads(redis: &Redis, calls: i64) -> Result<f64, Failure> {
    let client = redis::Client::open(redis.url())?;
    let runtime = std::thread::spawn(move || -> Result<(), String> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        runtime.block_on(read_often(&client, calls)).map_err(|error| error.to_string())
    });
    let before = script_time(redis)?;
    runtime.join().map_err(|_| "the reads panicked")??;
    let after = script_time(redis)?;
    Ok((after.1 - before.1) as f64 / (after.0 - before.0) as f64)
}

async fn read_often(client: &redis::Client, calls: i64) -> Result<(), redis::RedisError> {
    let mut connection = client.get_multiplexed_async_connection().await?;
    let (script, keys) = (Script::new(READS), keys(0));
    fill(&mut connection, &keys).await?;
    script.prepare_invoke().load_async(&mut connection).await?;
    for _ in 0..calls {
        let _: redis::Value = script.key(&keys[..4]).invoke_async(&mut connection).await?;
    }
    Ok(())
}

async fn fill(connection: &mut MultiplexedConnection, keys: &[String]) -> Result<(), redis::RedisError> {
    let marker = [("run", "0"), ("window", "0123456789abcdef0123456789abcdef"), ("evictions", "0"), ("state", "open")];
    let _: () = connection.hset_multiple(&keys[0], &marker).await?;
    let names = ["window", "trusted", "incarnation", "version", "total", "credit", "limit", "used", "frozen", "status"];
    for key in &keys[1..4] {
        let fields: Vec<_> = names.iter().map(|name| (*name, "1000000000000")).collect();
        let _: () = connection.hset_multiple(key, &fields).await?;
    }
    Ok(())
}

/// Requests a second through three bare scripts with the ledger's keys and writes.
pub async fn throughput(redis: &Redis, at_once: usize, time: Duration) -> Result<f64, Failure> {
    let connection = redis::Client::open(redis.url())?.get_multiplexed_async_connection().await?;
    let reads = READS.rsplit_once("return").map_or(READS, |(reads, _)| reads);
    let scripts = [FREEZE, SETTLE, CONFIRM].map(|body| {
        let reads = if body == FREEZE { reads } else { reads.split_once("for i").map_or(reads, |(marker, _)| marker) };
        Script::new(&format!("{reads}{body}"))
    });
    let mut tasks = Vec::new();
    for number in 1..=at_once {
        let (mut connection, scripts, keys) = (connection.clone(), scripts.clone(), keys(number));
        fill(&mut connection, &keys).await?;
        tasks.push(tokio::spawn(async move {
            let (began, mut done) = (Instant::now(), 0_u32);
            let freeze = "A|1000|500|1000|0|1767225600000|1767225600000|1|bench|bench|k_01KXXXXXXXXXXXXXXXXXXXXXXX:-,p_01KXXXXXXXXXXXXXXXXXXXXXXX:-,t_01KXXXXXXXXXXXXXXXXXXXXXXX|";
            while began.elapsed() < time {
                let request = format!("req_{number}_{done}");
                for script in &scripts {
                    let mut call = script.prepare_invoke();
                    call.key(&keys).arg(&request).arg(freeze).arg("0123456789abcdef0123456789abcdef");
                    let _: redis::Value = call.invoke_async(&mut connection).await?;
                }
                done += 1;
            }
            Ok::<u32, redis::RedisError>(done)
        }));
    }
    let mut done = 0;
    for task in tasks {
        done += task.await??;
    }
    Ok(f64::from(done) / time.as_secs_f64())
}
