// child-openworkflow PROCESSES CONCURRENCY FILE: openworkflow on SQLite
import { OpenWorkflow } from 'openworkflow'
import { BackendSqlite } from 'openworkflow/sqlite'
import { countdown, join, measure, step, together } from './job.mjs'

const [processes, concurrency, file] = process.argv.slice(2)
// Opens the file with WAL and leaves `synchronous` at SQLite's default, FULL: each commit is on disk, like ours.
const backend = BackendSqlite.connect(file)
const client = new OpenWorkflow({ backend })
let tell = () => {}

// The root is the run itself.
const order = client.defineWorkflow({ name: 'order' }, async ({ step: steps }) => {
  const parts = await Promise.all(['a', 'b', 'c'].map(name => steps.run({ name }, step)))
  return steps.run({ name: 'join' }, () => join(parts))
})

// Handles poll for a result once a second: this is where the end of a run is first known.
const complete = backend.completeWorkflowRun.bind(backend)
backend.completeWorkflowRun = async params => {
  const run = await complete(params)
  tell()
  return run
}

const worker = client.newWorker({ concurrency: Number(concurrency) })
await worker.start()
await measure(Number(processes), async many => {
  const ended = countdown(many)
  tell = ended.tell
  await together(many, at => order.run({ at }))
  await ended.promise
})
await worker.stop()
await backend.stop()
