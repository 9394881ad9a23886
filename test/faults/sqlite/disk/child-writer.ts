// A separate program that changes streams and prints the id of each change reported as done:
// node child-writer.ts change|create FILE OPTIONS
import { flushCompileCache } from 'node:module'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { ChangeOutcome, StreamStore } from '../../../../src/store/store.ts'
import { bytes, changeOptions, summary } from '../../../contract/harness.ts'
import { document, once } from '../judgement.ts'
import { arm, type Failing, isRecorded, mark } from './talk.ts'

export interface WriterOptions {
  /** First part of the ids. */
  readonly who: string
  readonly count: number
  /** `PRAGMA synchronous`, instead of the driver's value. */
  readonly synchronous?: 'OFF' | 'NORMAL'
  /** `PRAGMA wal_autocheckpoint`, instead of the driver's value. */
  readonly checkpointPages?: number
  /** Reports before the COMMIT, and dies. */
  readonly tooEarly?: boolean
  /** Calls that fail, from the start. */
  readonly failing?: Failing
  /** One in this number of changes has a failing first sync. */
  readonly failedSyncEvery?: number
}

const STREAMS = 4

const [task, path = '', given = '{}'] = process.argv.slice(2)
const options: WriterOptions = JSON.parse(given)

function acknowledge(id: string): void {
  process.stdout.write(`${id}\n`)
  mark(id)
}

function open(file: string): StreamStore {
  const { synchronous, checkpointPages } = options
  return openSqliteStore(file, {
    onOpen: db => {
      if (synchronous !== undefined) db.exec(`PRAGMA synchronous = ${synchronous}`)
      if (checkpointPages !== undefined) db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    },
  })
}

async function create(store: StreamStore, name: string, id: string): Promise<void> {
  const { kind } = await store.create(name, bytes(document(id)), summary())
  if (kind === 'created') acknowledge(id)
}

async function change(store: StreamStore, name: string, id: string): Promise<void> {
  const decide = once(id)
  const { kind }: ChangeOutcome = await store.update(
    name,
    current => {
      if (options.tooEarly) {
        acknowledge(id)
        process.kill(process.pid, 'SIGKILL')
      }
      return decide(current)
    },
    changeOptions(),
  )
  if (kind === 'committed' || kind === 'left') acknowledge(id)
}

/** On a few streams of one file, one to three at a time. */
async function changing(): Promise<void> {
  const { who, count, failedSyncEvery = 0 } = options
  const store = open(path)
  for (let at = 0; at < STREAMS; at += 1) await create(store, `s/${at}`, `${who}-s${at}`)
  for (let at = 0, together = 1; at < count; at += together, together = 1 + (at % 3)) {
    if (failedSyncEvery > 0 && at % failedSyncEvery === 0) {
      arm({ errno: 'EIO', first: 1 + (at % 2), times: 1, kinds: 's' })
    }
    const ids = Array.from({ length: Math.min(together, count - at) }, (_, next) => at + next)
    await Promise.all(ids.map(id => change(store, `s/${id % STREAMS}`, `${who}-${id}`)))
  }
  await store.close()
}

/** One file after the other, each created unless another program was faster. */
async function creating(): Promise<void> {
  const { who, count } = options
  for (let at = 0; at < count; at += 1) {
    const store = open(`${path}-${at}`)
    await create(store, 's/0', `${who}-${at}-made`)
    await change(store, 's/0', `${who}-${at}`)
    await store.close()
  }
}

// It may be killed before it could do so at the end.
flushCompileCache()
if (options.failing !== undefined) arm(options.failing)
await (task === 'create' ? creating() : changing())
if (isRecorded) mark(`injected=${arm(undefined).injected}`)
