// node-redlock 5 with ioredis, as its README has it: using(), which extends the lock by itself and tells of its loss by
// a signal. It has no time to wait for a lock but a number of attempts, 200 ms apart on the average.
'use strict'
const { default: Redlock, ResourceLockedError } = require('redlock5')
const { run, refusal, clients, version } = require('./protocol')

const RETRY_DELAY_MS = 200
let redlock

// What the masters said in the last attempt.
async function reason (error) {
  const attempts = error.attempts ? await Promise.all(error.attempts) : []
  const last = attempts[attempts.length - 1]
  if (!last) return 'error'
  const locked = [...last.votesAgainst.values()].filter((vote) => vote instanceof ResourceLockedError).length
  return locked > 0 && last.votesFor.size + locked >= last.quorumSize ? 'held' : 'unreachable'
}

run({
  name: 'node-redlock-5',
  version: version('redlock5'),
  can: 'lease,renewal,alarm',
  on: 'redis:5',

  async open (settings) {
    redlock = new Redlock(clients(settings), { retryDelay: RETRY_DELAY_MS })
    redlock.on('error', () => {})
  },

  acquire (key, ttl, timeout) {
    return new Promise((resolve, reject) => {
      let acquired = false
      let finish
      let signal
      const finished = new Promise((resolve) => { finish = resolve })
      const use = redlock.using([key], ttl, { retryCount: Math.floor(timeout / RETRY_DELAY_MS) }, (itsSignal) => {
        acquired = true
        signal = itsSignal
        resolve({
          remainingMs: () => signal.aborted ? 0 : null,
          onLost: (tell) => signal.addEventListener('abort', tell),
          release: () => {
            finish()
            return use.then(() => 'ok', () => signal.aborted ? 'lost' : 'unconfirmed')
          }
        })
        return finished
      })
      use.catch(async (error) => {
        if (!acquired) reject(refusal(await reason(error), error.message))
      })
    })
  }
})
