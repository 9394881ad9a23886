// A delivery by drone is five steps in five services that share nothing: if one fails for good, what the others did has to be
// undone. This program runs the services, the workers and a watchdog, places the orders, kills processes at random if asked,
// and proves afterwards, from the files of the services, that nothing was left half done.
//
//   npm run drone -- --deliveries 1000 --faults 5% --kills
//
// Exit: 0 proven, 1 not, with the deliveries at fault.
import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { createStream, openStore } from 'leasectl'
import { Fleet } from './fleet.ts'
import { type Effect, type Ending, faultsOf } from './proof.ts'
import { ServiceLog } from './service-log.ts'
import { STEPS } from './steps.cjs'

const KILL_EVERY_MS = 1_500
/** Effects between two kills: on a machine with much else to do, most processes would be starting otherwise. */
const EFFECTS_PER_KILL = 10
const MISTAKES = ['skip-undo', 'attempt-key']

const { values: flags } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '20' },
    faults: { type: 'string', default: '5%' },
    kills: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    store: { type: 'string' },
    workers: { type: 'string', default: '2' },
    // A mistake in the workers, which the proof must find.
    mistake: { type: 'string' },
  },
})

const deliveries = wholeNumber('deliveries', flags.deliveries, 100_000)
const workers = wholeNumber('workers', flags.workers, 100)
const faults = share(flags.faults)
if (flags.mistake !== undefined && !MISTAKES.includes(flags.mistake)) exitWith(`--mistake is ${MISTAKES.join(' or ')}`)

const folder = await mkdtemp(join(tmpdir(), 'drone-'))
const address = flags.store ?? `sqlite:${join(folder, 'deliveries.db')}`
const match = `deliveries/${flags.seed}/*`
const notified = join(folder, 'notifications.json')
const leasectl = [process.execPath, fileURLToPath(new URL('../bin/leasectl.js', import.meta.resolve('leasectl')))]
console.log(`${deliveries} deliveries, ${flags.faults} faults, seed ${flags.seed}, in ${address}, files in ${folder}`)

await placeOrders()
const fleet = new Fleet(join(folder, 'processes.log'))
/** The `leasectl` that this program waits for. */
let child: ChildProcess | undefined
let isStopping = false
startAll(fleet)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop())
}
const kills = flags.kills ? setInterval(killer(fleet), KILL_EVERY_MS) : undefined
await untilAllHaveEnded()
clearInterval(kills)
await untilCustomersKnow()
await fleet.stop()
process.exitCode = await prove()
if (process.exitCode === 0) await rm(folder, { recursive: true })

/** The shop: one stream for each delivery, with the plan of its steps and what undoes each. */
async function placeOrders(): Promise<void> {
  await using store = await openStore(address)
  await store.createContainer()
  const policy = { retry: '8 50ms..1s', attemptTimeout: '2s' }
  const steps = STEPS.map(({ name, undo }) => ({ name, undo, ...policy }))
  const order = async (number: number) => {
    const name = `deliveries/${flags.seed}/${number}`
    const outcome = await createStream(
      store,
      name,
      { by: 'shop' },
      { root: 'Delivery', steps, onFailure: 'compensate' },
    )
    if (outcome.kind !== 'done') throw new Error(`${name}: ${outcome.kind}`)
  }
  for (let first = 0; first < deliveries; first += 16) {
    await Promise.all(Array.from({ length: Math.min(16, deliveries - first) }, (_, at) => order(first + at)))
  }
}

function startAll(fleet: Fleet): void {
  const program = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  for (const { service } of STEPS) {
    const words = [folder, service, String(faults), flags.seed]
    fleet.start(service, [process.execPath, program('service.ts'), ...words])
  }
  const step = [
    '--',
    process.execPath,
    program('step.cjs'),
    folder,
    ...(flags.mistake === undefined ? [] : [flags.mistake]),
  ]
  const work = (owner: string, names: readonly string[]) => {
    const words = ['--store', address, '--match', match, '--owner', owner, '--stdin', 'json', '--claim', '3s', '-q']
    const pace = ['--concurrency', '4', '--max-idle', '200ms']
    fleet.start(owner, [...leasectl, 'work', '--name', names.join(','), ...words, ...pace, ...step])
  }
  const names = STEPS.map(({ name }) => name)
  for (let at = 1; at <= workers; at++) work(`worker-${at}`, names)
  // The supervisor is nothing but a worker of the undo steps. It may die: they stand in the stream.
  const undos = STEPS.map(({ undo }) => undo)
  work('supervisor', undos)
  const hook = JSON.stringify(['/bin/sh', program('notify.sh'), notified])
  const words = ['--store', address, '--match', match, '--interval', '1s', '--on-done', hook, '-q']
  fleet.start('watchdog', [...leasectl, 'watchdog', ...words])
}

/** Kills a process if the services have done enough since the last kill. */
function killer(fleet: Fleet): () => void {
  const logs = STEPS.map(({ service }) => new ServiceLog(join(folder, `${service}.db`)))
  let killedAt = 0
  return () => {
    const effects = logs.reduce((sum, log) => sum + log.size(), 0)
    if (effects - killedAt < EFFECTS_PER_KILL) return
    killedAt = effects
    fleet.killOne(Math.random())
  }
}

/** Ends every process that this program has started, then the program. */
async function stop(): Promise<void> {
  isStopping = true
  const ended = child === undefined || child.exitCode !== null ? undefined : once(child, 'exit')
  child?.kill()
  await Promise.all([ended, fleet.stop()])
  process.exit(130)
}

async function untilAllHaveEnded(): Promise<void> {
  await run(['wait', '--match', match, '--for', 'done', '-q'])
}

/** The watchdog calls its hook for each delivery that has ended: at least once, so some are told twice. */
async function untilCustomersKnow(): Promise<void> {
  for (let tries = 0; tries < 600 && (await customersTold()).size < deliveries; tries++) await sleep(100)
}

/** What customers were told, by delivery. */
async function customersTold(): Promise<Map<string, string>> {
  const text = await readFile(notified, 'utf8').catch(() => '')
  const told = text
    .split(/(?<=\})\s*(?=\{"apiVersion")/)
    .filter(document => document.trim() !== '')
    .map((document): [string, string] => {
      const { stream, status, outcome } = JSON.parse(document)
      return [stream, outcome ?? status]
    })
  return new Map(told)
}

async function prove(): Promise<number> {
  const endings = await readEndings()
  const effects = readEffects()
  const told = await customersTold()
  const wrong = endings.flatMap(ending => {
    const { delivery, status, outcome } = ending
    const faults = faultsOf(ending, effects.get(delivery) ?? [])
    const known = told.get(delivery)
    const expected = outcome || status
    if (known !== expected) faults.push(`its customer was told: ${known ?? 'nothing'}`)
    return faults.map(fault => `${delivery}: ${fault}`)
  })
  if (endings.length !== deliveries) wrong.push(`${deliveries} deliveries were ordered, ${endings.length} were found`)
  const all = [...effects.values()].flat()
  const count = (action: string) => all.filter(effect => effect.action === action).length
  const completed = endings.filter(({ status }) => status === 'completed').length
  console.log(`completed    ${completed}`)
  console.log(`compensated  ${endings.filter(({ outcome }) => outcome === 'compensated').length}`)
  console.log(`effects      ${count('do')} done, ${count('undo')} undone, ${count('nothing')} times nothing to undo`)
  console.log(`kills        ${fleet.kills}`)
  for (const line of wrong.slice(0, 50)) console.log(`✗ ${line}`)
  if (wrong.length > 0) console.log(`NOT PROVEN: ${wrong.length} faults; repeat with --seed ${flags.seed}`)
  else
    console.log('proven: every delivery has all five effects, or each of its effects was undone once, in reverse order')
  return wrong.length === 0 ? 0 : 1
}

async function readEndings(): Promise<Ending[]> {
  const lines = (await run(['ls', '--match', match, '-o', 'ndjson'])).trim().split('\n')
  return lines.map(line => {
    const { name, status, outcome } = JSON.parse(line)
    return { delivery: name, status, outcome: outcome ?? '' }
  })
}

/** What the services did, by delivery, in the order of time. */
function readEffects(): Map<string, Effect[]> {
  const all = STEPS.flatMap(({ service }) => {
    const log = new ServiceLog(join(folder, `${service}.db`))
    const effects = log.actions().map(action => ({ ...action, service }))
    log.close()
    return effects
  })
  return Map.groupBy(
    all.sort((a, b) => (a.at < b.at ? -1 : 1)),
    ({ delivery }) => delivery,
  )
}

async function run(words: readonly string[]): Promise<string> {
  const [file = '', ...args] = [...leasectl, ...words, '--store', address]
  const answer = promisify(execFile)(file, args, { maxBuffer: 2 ** 30 })
  child = answer.child
  try {
    return (await answer).stdout
  } catch (error) {
    // `stop` ends the program.
    if (isStopping) return new Promise<string>(() => {})
    throw error
  }
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
