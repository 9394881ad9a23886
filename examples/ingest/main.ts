// The deliveries of ../drone behind an inbox: customers send requests over HTTP faster than drones fly. `inbox serve` takes them, `inbox
// drain` makes a stream of each at the pace the store bears, and the workers deliver. Servers, drains and workers are killed at
// random if asked; at the end the files of the services prove that every request that was accepted was delivered once, or undone.
//
//   npm run ingest -- --requests 200 --rate 500 --kills
//
// Exit: 0 proven, 1 not, with the deliveries at fault.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { createInbox, openStore } from 'leasectl'
import { Fleet } from '../drone/fleet.ts'
import { type Effect, faultsOf } from '../drone/proof.ts'
import { ServiceLog } from '../drone/service-log.ts'
import { STEPS } from '../drone/steps.cjs'
import { type Sent, sendRequests } from './customers.ts'

const KILL_EVERY_MS = 1_500

const { values: flags } = parseArgs({
  options: {
    requests: { type: 'string', default: '50' },
    rate: { type: 'string', default: '200' },
    faults: { type: 'string', default: '5%' },
    kills: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})

const requests = wholeNumber('requests', flags.requests, 100_000)
const rate = wholeNumber('rate', flags.rate, 100_000)
const faults = share(flags.faults)

const folder = await mkdtemp(join(tmpdir(), 'ingest-'))
const address = `sqlite:${join(folder, 'deliveries.db')}`
const match = 'deliveries/*'
const leasectl = [process.execPath, fileURLToPath(new URL('../bin/leasectl.js', import.meta.resolve('leasectl')))]
const port = await freePort()
console.log(`${requests} requests at ${rate} a second, ${flags.faults} faults, seed ${flags.seed}, files in ${folder}`)

await createTheInbox()
const fleet = new Fleet(join(folder, 'processes.log'))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void fleet.stop().then(() => process.exit(130)))
}
startAll()
const kills = flags.kills ? setInterval(() => fleet.killOne(Math.random()), KILL_EVERY_MS) : undefined
const sent = await sendRequests(() => `http://127.0.0.1:${port}/inboxes/deliveries`, requests, rate)
await untilAllHaveEnded()
clearInterval(kills)
await fleet.stop()
process.exitCode = await prove(sent)
if (process.exitCode === 0) await rm(folder, { recursive: true })

async function createTheInbox(): Promise<void> {
  await using store = await openStore(address)
  await store.createContainer()
  await createInbox(store, 'deliveries', { by: 'shop', partitions: 4 })
}

function startAll(): void {
  const program = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const command = (name: string, ...words: readonly string[]) =>
    fleet.start(name, [...leasectl, ...words, '--store', address, '-q'])
  command('serve', 'inbox', 'serve', 'deliveries', '--key-field', '/customer', '--listen', `127.0.0.1:${port}`)
  const template = ['--template', program('delivery.yaml'), '--name', 'deliveries/{/id}']
  for (const drain of ['drain-1', 'drain-2']) command(drain, 'inbox', 'drain', 'deliveries', ...template)
  for (const { service } of STEPS) {
    const words = [folder, service, String(faults), flags.seed]
    fleet.start(service, [process.execPath, program('../drone/service.ts'), ...words])
  }
  const names = STEPS.flatMap(({ name, undo }) => [name, undo]).join(',')
  const step = ['--', process.execPath, program('../drone/step.cjs'), folder]
  for (const owner of ['worker-1', 'worker-2']) {
    const words = ['--store', address, '--match', match, '--owner', owner, '--stdin', 'json', '--claim', '3s', '-q']
    fleet.start(owner, [...leasectl, 'work', '--name', names, ...words, '--concurrency', '4', ...step])
  }
  command('watchdog', 'watchdog', '--match', match, '--interval', '1s')
}

/** Every request that was accepted is a stream, sooner or later, and every stream ends. */
async function untilAllHaveEnded(): Promise<void> {
  const names = Array.from({ length: requests }, (_, id) => `deliveries/${id}`)
  for (let first = 0; first < requests; first += 500)
    await run(['wait', ...names.slice(first, first + 500), '--may-appear', '--for', 'done', '-q'])
}

async function prove({ accepted, again, p50Ms, p99Ms, tookMs }: Sent): Promise<number> {
  const lines = (await run(['ls', '--match', match, '-o', 'ndjson'])).trim().split('\n')
  const endings = lines.map(line => JSON.parse(line))
  const effects = readEffects()
  const wrong = endings.flatMap(({ name, status, outcome }) => {
    const ending = { delivery: name, status, outcome: outcome ?? '' }
    return faultsOf(ending, effects.get(name) ?? []).map(fault => `${name}: ${fault}`)
  })
  if (endings.length !== accepted) wrong.push(`${accepted} requests were accepted, ${endings.length} streams were made`)
  const dead = (await run(['inbox', 'dead', 'ls', 'deliveries', '-o', 'name'])).trim()
  if (dead !== '') wrong.push(`dead letters: ${dead.replaceAll('\n', ' ')}`)
  const completed = endings.filter(({ status }) => status === 'completed').length
  console.log(`accepted     ${accepted} in ${tookMs} ms; half within ${p50Ms} ms, 99 % within ${p99Ms} ms`)
  console.log(`sent again   ${again}`)
  console.log(`completed    ${completed}`)
  console.log(`compensated  ${endings.filter(({ outcome }) => outcome === 'compensated').length}`)
  console.log(`kills        ${fleet.kills}`)
  for (const line of wrong.slice(0, 50)) console.log(`✗ ${line}`)
  if (wrong.length > 0) console.log(`NOT PROVEN: ${wrong.length} faults; repeat with --seed ${flags.seed}`)
  else console.log('proven: every request that was accepted is one delivery, done once or undone')
  return wrong.length === 0 ? 0 : 1
}

/** What the services did, by delivery, in the order of time. */
function readEffects(): Map<string, Effect[]> {
  const all = STEPS.flatMap(({ service }) => {
    const log = new ServiceLog(join(folder, `${service}.db`))
    const actions = log.actions().map(action => ({ ...action, service }))
    log.close()
    return actions
  })
  return Map.groupBy(
    all.sort((a, b) => (a.at < b.at ? -1 : 1)),
    ({ delivery }) => delivery,
  )
}

async function run(words: readonly string[]): Promise<string> {
  const [file = '', ...args] = [...leasectl, ...words, '--store', address]
  return (await promisify(execFile)(file, args, { maxBuffer: 2 ** 30 })).stdout
}

/** A port that stays the same when the server is killed and started again. */
function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const bound = server.address()
      server.close(() => resolve(typeof bound === 'object' && bound !== null ? bound.port : 0))
    })
  })
}

function wholeNumber(name: string, text: string, most: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0 && number <= most) return number
  return exitWith(`--${name} is a whole number from 1 to ${most}`)
}

function share(text: string): number {
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text) ?? []
  if (percent === undefined || Number(percent) > 100) return exitWith('--faults is a share, as 5%')
  return Number(percent) / 100
}

function exitWith(message: string): never {
  console.error(message)
  process.exit(2)
}
