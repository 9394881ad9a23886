import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import { transact } from '../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { sized } from '../guarantees/size.ts'
import { programFolder, warmStart } from './program.ts'

const CONTENDER = fileURLToPath(new URL('./contender.ts', import.meta.url))
export const PROCESSES = 20
/** Per process. */
export const CHANGES = sized(10, 50)

/** Many processes change one stream as fast as they can. Every change must exist once, under its reported version. */
export async function contend(store: StreamStore, atATime: number): Promise<void> {
  const stream = 'contended'
  await store.createContainer()
  const init = { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: 'b' } as const
  await transact(store, stream, init, { commandId: 'init', by: 'test' })
  const program = await programFolder()
  const told = await Promise.all(
    Array.from({ length: PROCESSES }, (_, at) => runContender(program, store.address, stream, `p${at}`, atATime)),
  )
  const expected = new Map(told.flatMap(versions => Object.entries(versions)))
  expect(expected.size).toBe(PROCESSES * CHANGES)
  const view = await readStream(store, stream)
  const found = (view?.transactions() ?? []).filter(({ op }) => op === 'set')
  expect(found.map(({ version }) => version)).toEqual(Array.from({ length: PROCESSES * CHANGES }, (_, at) => at + 2))
  expect(new Map(found.map(({ commandId, version }) => [commandId, version]))).toEqual(expected)
  expect(view?.stream.root?.tag).toBe(found.at(-1)?.commandId)
}

function runContender(
  program: string,
  address: string,
  stream: string,
  name: string,
  atATime: number,
): Promise<Record<string, number>> {
  const library = join(program, 'dist', 'index.js')
  const args = [CONTENDER, library, address, stream, name, String(CHANGES), String(atATime)]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...warmStart(program) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => {
    stdout += chunk
  })
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve(JSON.parse(stdout) as Record<string, number>)
      else reject(new Error(`${name} ended with ${code}: ${stderr}`))
    })
  })
}
