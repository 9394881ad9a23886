import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore, WriteMode } from '../../src/store/store.ts'
import { sized } from '../guarantees/size.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { programFolder, warmStart } from './program.ts'
import type { Told } from './same-command-caller.ts'

const CALLER = fileURLToPath(new URL('./same-command-caller.ts', import.meta.url))
const PROCESSES = 4
const ROUNDS = sized(12, 100)

test.each([
  ['SQLite', 'lease'],
  ['Azurite', 'lease'],
  ['Azurite', 'optimistic'],
] as const)(
  'of four processes with one command id on %s (%s), one makes the change, and the follow-up of the others is marked as a duplicate',
  async (kind, write) => {
    const store = kind === 'SQLite' ? await embedded() : await azurite()
    const callers = await Promise.all(Array.from({ length: PROCESSES }, () => startCaller(store.address, write)))
    for (let round = 0; round < ROUNDS; round += 1) {
      const stream = `s${round}`
      const told = await Promise.all(callers.map(caller => caller.ask(stream)))
      expect(told.map(({ init }) => init).sort()).toEqual(['done', 'duplicate', 'duplicate', 'duplicate'])
      expect(told.map(({ complete }) => complete).sort()).toEqual(['done', 'duplicate', 'duplicate', 'duplicate'])
      for (const { complete, joined } of told)
        expect(joined).toEqual([{ join: '01', duplicate: complete === 'duplicate' }])
      const entries = (await readStream(store, stream))?.transactions() ?? []
      expect(entries.map(({ op }) => op)).toEqual(['init', 'complete'])
    }
  },
)

async function embedded(): Promise<StreamStore> {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-same-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return open(await openStore(`sqlite:${join(folder, 'streams.db')}`, {}))
}

async function azurite(): Promise<StreamStore> {
  return open(await openAzuriteStore((await sharedAzurite()).port))
}

async function open(store: StreamStore): Promise<StreamStore> {
  onTestFinished(() => store.close())
  await store.createContainer()
  return store
}

/** A process that handles one stream at a time. */
interface Caller {
  ask(stream: string): Promise<Told>
}

async function startCaller(address: string, write: WriteMode): Promise<Caller> {
  const program = await programFolder()
  const child = spawn(process.execPath, [CALLER, join(program, 'dist', 'index.js'), address, write], {
    env: { ...process.env, ...warmStart(program) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting: { readonly resolve: (told: Told) => void; readonly reject: (error: Error) => void }[] = []
  const answered = () => new Promise<Told>((resolve, reject) => waiting.push({ resolve, reject }))
  child.on('message', message => waiting.shift()?.resolve(message as Told))
  const gone = new Promise<void>(resolve => {
    child.on('exit', code => {
      for (const { reject } of waiting) reject(new Error(`a caller ended with ${code}`))
      resolve()
    })
  })
  onTestFinished(async () => {
    if (child.connected) child.disconnect()
    await gone
  })
  await answered()
  return {
    ask: stream => {
      child.send(stream)
      return answered()
    },
  }
}
