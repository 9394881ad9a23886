import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Row } from './lib/bench.ts'
import { interleave, type Samples, type Subject } from './lib/interleave.ts'
import { findPostgres, findRedis, startPostgres, startRedis } from './lib/peer-servers.ts'
import { runChild } from './lib/run-child.ts'

export const name = 'peers'

/** Processes per second relative to each of the others; a lower bound. */
export const limits = { ahead: 1 }

const PROCESSES = 1_000
const WARM_UP = 125
const CONCURRENCY = 32
const ROUNDS = 3
const FOLDER = fileURLToPath(new URL('./peers/', import.meta.url))
const LEASECTL = 'leasectl on SQLite'
const INSTALL = 'npm ci --prefix bench/peers'

/** An alternative that a user might choose. */
interface Peer {
  readonly title: string
  /** Versions of its package and its server. */
  readonly versions: string
  readonly subject: Subject
  /** Reported without a limit, because it is less durable. */
  readonly isTold?: boolean
}

/**
 * The same job with each subject: see peers/job.mjs. Every round of a subject has its own process and an empty database;
 * the servers run through all rounds.
 */
export async function run(): Promise<Row[]> {
  await using servers = new AsyncDisposableStack()
  const peers = [...(await openworkflow()), ...(await dbos(servers)), ...(await bullmq())]
  if (peers.length === 0) return []
  const subjects = peers.map(({ title, subject }) => [title, subject] as const)
  const samples = await interleave(Object.fromEntries([...subjects, [LEASECTL, leasectl()]]), ROUNDS)
  return peers.map(peer => rowOf(peer, samples[peer.title], samples[LEASECTL]))
}

function rowOf({ title, versions, isTold }: Peer, theirs: Samples | undefined, ours: Samples | undefined): Row {
  const [rate, other] = [perSecond(ours), perSecond(theirs)]
  return {
    figure: `${LEASECTL} / ${title}, processes per second`,
    ratio: rate / other,
    ...(isTold ? {} : { limit: limits.ahead, bound: 'at least' }),
    note: `${rate.toFixed(0)}/s / ${other.toFixed(0)}/s, ${versions}`,
  }
}

function perSecond(samples: Samples | undefined): number {
  return (PROCESSES / (samples?.median ?? Number.NaN)) * 1000
}

function leasectl(): Subject {
  return subjectOf('child-leasectl.ts', inFreshFolder)
}

async function openworkflow(): Promise<Peer[]> {
  const version = await installed('openworkflow')
  if (version === undefined) return skip('openworkflow', INSTALL)
  const subject = subjectOf('child-openworkflow.mjs', inFreshFolder)
  return [{ title: 'openworkflow on SQLite', versions: `openworkflow ${version}`, subject }]
}

async function dbos(servers: AsyncDisposableStack): Promise<Peer[]> {
  const version = await installed('@dbos-inc/dbos-sdk')
  if (version === undefined) return skip('DBOS', INSTALL)
  const program = await findPostgres()
  if (program === undefined) return skip('DBOS', 'apt-get install postgresql')
  const server = await startPostgres(program)
  servers.defer(() => server.stop())
  let databases = 0
  const subject = subjectOf('child-dbos.mjs', use => {
    databases++
    return use(`postgresql://bench@127.0.0.1:${server.port}/round${databases}`)
  })
  return [{ title: 'DBOS on PostgreSQL', versions: `dbos-sdk ${version}, PostgreSQL ${program.version}`, subject }]
}

async function bullmq(): Promise<Peer[]> {
  const version = await installed('bullmq')
  if (version === undefined) return skip('BullMQ', INSTALL)
  const program = await findRedis()
  if (program === undefined) return skip('BullMQ', 'apt-get install redis-server')
  const versions = `bullmq ${version}, Redis ${program.version}`
  const title = 'BullMQ flows on Redis'
  const subject = (appendfsync: 'always' | 'everysec') =>
    subjectOf('child-bullmq.mjs', async use => {
      // A new server each round, for an empty log: it starts instantly.
      const server = await startRedis(program, appendfsync)
      return use(String(server.port)).finally(() => server.stop())
    })
  return [
    { title, versions, subject: subject('always') },
    { title: `${title} that may lose a second`, versions, subject: subject('everysec'), isTold: true },
  ]
}

/** Lends a place for one round: a file, an address. */
type Lend = (use: (place: string) => Promise<number>) => Promise<number>

/** The first round is a warm-up, with fewer processes. */
function subjectOf(child: string, lend: Lend): Subject {
  let processes = WARM_UP
  return async () => {
    const ms = await lend(place => millisecondsOf(child, processes, place))
    processes = PROCESSES
    return ms
  }
}

const inFreshFolder: Lend = async use => {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return await use(join(folder, 'bench.db'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function millisecondsOf(child: string, processes: number, place: string): Promise<number> {
  const told = await runChild(join(FOLDER, child), [String(processes), String(CONCURRENCY), place])
  const ms = typeof told === 'object' && told !== null && 'ms' in told ? Number(told.ms) : Number.NaN
  if (!(ms > 0)) throw new Error(`${child} told ${JSON.stringify(told)}`)
  return ms
}

/** Version of a package in bench/peers, which are installed separately. */
async function installed(name: string): Promise<string | undefined> {
  const file = join(FOLDER, 'node_modules', name, 'package.json')
  if (!existsSync(file)) return undefined
  return String(JSON.parse(await readFile(file, 'utf8')).version)
}

function skip(peer: string, remedy: string): [] {
  console.error(`peers: ${peer} skipped, it is not installed: ${remedy}`)
  return []
}
