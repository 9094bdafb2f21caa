// node-redlock 4 with ioredis, as its README has it: its example's settings are its defaults. It has no time to wait
// for a lock but a number of attempts, 200 ms apart on the average. A lock is extended by hand or not at all.
'use strict'
const Redlock = require('redlock4')
const { run, refusal, clients, version } = require('./protocol')

const RETRY_DELAY_MS = 200
let redlock

run({
  name: 'node-redlock-4',
  version: version('redlock4'),
  can: 'lease',
  on: 'redis:5',

  async open (settings) {
    redlock = new Redlock(clients(settings), { retryDelay: RETRY_DELAY_MS })
    redlock.on('clientError', () => {})
  },

  async acquire (key, ttl, timeout) {
    // 0 would mean the default of 10 here, and a negative number but -1 no attempt after the first.
    const retryCount = Math.floor(timeout / RETRY_DELAY_MS) || -2
    let lock
    try {
      lock = await redlock.acquireWithOptions(key, ttl, { retryCount })
    } catch (error) {
      throw refusal(error instanceof Redlock.LockError ? 'deadline' : 'error', error.message)
    }
    const untilMs = lock.expiration
    return {
      untilMs,
      remainingMs: () => untilMs - Date.now(),
      release: () => lock.unlock().then(() => 'ok', () => untilMs < Date.now() ? 'lost' : 'unconfirmed')
    }
  }
})
