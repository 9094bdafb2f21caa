// The protocol of tools/lab/engines/README.md, for engines in JavaScript: run() with
//
//   { name, version, can, on, ttl?, open(settings), acquire(key, ttlMs, timeoutMs) }
//
// ttl is what the library uses if its user names none, in milliseconds.
// acquire() gives a promise of a hold { untilMs?, remainingMs(), release(), onLost? }: untilMs is a Date.now() or
// undefined, remainingMs() a number or null, release() a promise of an outcome, onLost(tell) takes a function to call.
// An error with a reason of the protocol in .reason is a refusal for it.
'use strict'
const readline = require('readline')
const Redis = require('ioredis')

// What a library has not answered so long after the caller's time is refused for it; a lock that comes later is given
// back. Clients of Redis keep commands for servers that are down.
const PATIENCE_MS = 2000

const now = () => process.hrtime.bigint()
const encode = (text) => encodeURIComponent(text) || '-'
const say = (...words) => process.stdout.write(words.join(' ') + '\n')
const instant = (dateMs) => now() + BigInt(Math.round((dateMs - Date.now()) * 1e6))

function refusal (reason, text) {
  return Object.assign(new Error(text), { reason })
}

// Clients as ioredis makes them by default, which is what the manuals of the lock libraries show.
function clients (settings) {
  return settings.nodes.split(',').map((node) => {
    const client = new Redis(node.includes('://') ? node : `redis://${node}`)
    client.on('error', () => {}) // the library hears of it by its commands
    return client
  })
}

// As package.json pins it: "5.0.0-beta.2" of "npm:redlock@5.0.0-beta.2".
const version = (name) => require('./package.json').dependencies[name].replace(/^.*@/, '')

function parse (fields) {
  return Object.fromEntries(fields.map((field) => {
    const equals = field.indexOf('=')
    return [field.slice(0, equals), decodeURIComponent(field.slice(equals + 1))]
  }))
}

function run (engine) {
  const holds = new Map()
  let prefix = ''

  async function acquire (id, key, ttl, timeout) {
    const t0 = now()
    const attempt = engine.acquire(prefix + decodeURIComponent(key), +ttl, +timeout)
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => {
        attempt.then((hold) => hold.release()).catch(() => {})
        reject(refusal('unreachable', 'the library has not answered'))
      }, +timeout + PATIENCE_MS)
    })
    try {
      const hold = await Promise.race([attempt, late])
      const until = hold.untilMs === undefined ? '' : ` until=${instant(hold.untilMs)}`
      holds.set(id, hold)
      say('acquired', id, t0, now() + until)
      if (hold.onLost) hold.onLost(() => holds.has(id) && say('lost', id, now()))
    } catch (error) {
      say('refused', id, t0, now(), error.reason || 'error', encode(error.message))
    } finally {
      clearTimeout(timer)
    }
  }

  function valid (id) {
    const t0 = now()
    const remaining = holds.get(id).remainingMs()
    say('valid', id, t0, now(), remaining === null ? '-' : Math.max(0, Math.floor(remaining)))
  }

  async function release (id) {
    const t0 = now()
    const hold = holds.get(id)
    holds.delete(id)
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, 'unconfirmed').unref())
    const outcome = await Promise.race([hold.release(), late])
    say('released', id, t0, now(), outcome)
  }

  async function obey (words) {
    switch (words[0]) {
      case 'hello':
        return say('hello', 1, engine.name, engine.version, `can=${engine.can}`, `on=${engine.on}`,
          ...(engine.ttl ? [`ttl=${engine.ttl}`] : []))
      case 'open': {
        const settings = parse(words.slice(1))
        prefix = settings.prefix || ''
        await engine.open(settings)
        return say('opened')
      }
      case 'acquire': return acquire(...words.slice(1, 5))
      case 'valid': return valid(words[1])
      case 'release': return release(words[1])
      case 'bye':
        return process.stdout.write('bye\n', () => process.exit(0))
      default:
        throw new Error(`what is ${words[0]}?`)
    }
  }

  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    obey(line.split(' ')).catch((error) => {
      process.stdout.write(`failed ${encode(error.message)}\n`, () => process.exit(1))
    })
  }).on('close', () => process.exit(0)) // the end of a holder
}

module.exports = { run, refusal, clients, version }
