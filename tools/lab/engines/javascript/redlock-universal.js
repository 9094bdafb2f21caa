// redlock-universal with ioredis, as its README has it: using(), which extends the lock by itself and tells of its loss
// by a signal; createRedlock() over several servers, createLock() for one. It has no time to wait for a lock but a
// number of attempts, with its default delay between them.
'use strict'
const { createLock, createRedlock, IoredisAdapter } = require('redlock-universal')
const { run, refusal, clients, version } = require('./protocol')

let adapters

function lockOf (key, ttl, timeout) {
  if (adapters.length > 1) {
    return createRedlock({ adapters, key, ttl, retryAttempts: Math.floor(timeout / 200) })
  }
  return createLock({ adapter: adapters[0], key, ttl, retryAttempts: Math.floor(timeout / 100) })
}

run({
  name: 'redlock-universal',
  version: version('redlock-universal'),
  can: 'lease,renewal,alarm',
  on: 'redis:5,redis:1',
  ttl: 30000,

  async open (settings) {
    adapters = clients(settings).map((client) => new IoredisAdapter(client))
  },

  acquire (key, ttl, timeout) {
    return new Promise((resolve, reject) => {
      let acquired = false
      let finish
      const finished = new Promise((resolve) => { finish = resolve })
      const use = lockOf(key, ttl, timeout).using((signal) => {
        acquired = true
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
      use.catch((error) => {
        if (acquired) return
        reject(refusal(error.code === 'LOCK_ACQUISITION_FAILED' ? 'deadline' : 'error', error.message))
      })
    })
  }
})
