// child-bullmq PROCESSES CONCURRENCY PORT: BullMQ flows on Redis
import { FlowProducer, Worker } from 'bullmq'
import { countdown, join, measure, step, together } from './job.mjs'

const [processes, concurrency, port] = process.argv.slice(2)
const connection = { host: '127.0.0.1', port: Number(port) }
let tell = () => {}

// The root is the flow. Its parent job runs when its three children are completed: it is the join.
const work = async job => (job.name === 'join' ? join() : step())
const worker = new Worker('orders', work, { connection, concurrency: Number(concurrency) })
worker.on('completed', job => {
  if (job.name === 'join') tell()
})
worker.on('failed', (_job, error) => {
  throw error
})
worker.on('error', error => {
  throw error
})
await worker.waitUntilReady()
const flows = new FlowProducer({ connection })
const children = ['a', 'b', 'c'].map(name => ({ name, queueName: 'orders', data: {} }))
await measure(Number(processes), async (many, label) => {
  const ended = countdown(many)
  tell = ended.tell
  await together(many, at => flows.add({ name: 'join', queueName: 'orders', data: { at, label }, children }))
  await ended.promise
})
await worker.close()
await flows.close()
