// child-dbos PROCESSES CONCURRENCY URL: DBOS on PostgreSQL
import { DBOS } from '@dbos-inc/dbos-sdk'
import { join, measure, step, together } from './job.mjs'

const [processes, concurrency, systemDatabaseUrl] = process.argv.slice(2)
DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error' })

// The root is the workflow itself.
const order = DBOS.registerWorkflow(
  async () => {
    const parts = await Promise.all(['a', 'b', 'c'].map(name => DBOS.runStep(async () => step(), { name })))
    return DBOS.runStep(async () => join(parts), { name: 'join' })
  },
  { name: 'order' },
)

/*
 * Limits the concurrency. DBOS's own queue polls, by default once a second, and was slower even when set to poll every
 * 10 ms. Processes that wait here are not stored yet, which is in its favour.
 */
function limit(/** @type {number} */ most) {
  const waiting = []
  let free = most
  return async call => {
    if (free > 0) free--
    else await new Promise(resolve => waiting.push(resolve))
    try {
      return await call()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
}

await DBOS.launch()
const limited = limit(Number(concurrency))
await measure(Number(processes), async many => {
  await together(many, () => limited(async () => (await DBOS.startWorkflow(order)()).getResult()))
})
await DBOS.shutdown()
