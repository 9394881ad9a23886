import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startAzurite } from '../test/support/azurite-process.ts'
import type { Row } from './lib/bench.ts'
import { interleave, type Samples } from './lib/interleave.ts'
import { timeProcess } from './lib/time-process.ts'

const ROUNDS = 15
/** One per round, including the warm-up. */
const EVENTS = 2 * ROUNDS
const LEASECTL = fileURLToPath(new URL('../bin/leasectl.js', import.meta.url))

export const name = 'startup'

/** Upper bounds of the time of a command, as multiples of the time of an empty Node program. */
export const limits = { help: 2, lsSqlite: 2.2, lsAzurite: 7, exec: 4 }

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  const azurite = await startAzurite()
  try {
    const sqlite = `sqlite:${join(folder, 'bench.db')}`
    const azure = `azurite://127.0.0.1:${azurite.port}/bench`
    for (const store of [sqlite, azure]) await leasectl('init', 'orders/1', '--store', store, '--create-container')
    await leasectl('init', 'worked', '--store', sqlite, '--fork', Array.from({ length: EVENTS }, () => 'A').join(','))
    let event = 0
    const nextEvent = () => `${String(++event).padStart(2, '0')}.00`
    return rowsOf(
      await interleave(
        {
          node: () => timeProcess([process.execPath, '-e', '']),
          help: () => leasectl('--help'),
          lsSqlite: () => leasectl('ls', '--store', sqlite),
          lsAzurite: () => leasectl('ls', '--store', azure),
          // one event each, because it is final the second time
          exec: () => leasectl('exec', 'worked', nextEvent(), '--store', sqlite, '--', 'true'),
        },
        ROUNDS,
      ),
    )
  } finally {
    await azurite.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function leasectl(...args: string[]): Promise<number> {
  return timeProcess([process.execPath, LEASECTL, ...args])
}

function rowsOf(samples: Record<'node' | keyof typeof limits, Samples>): Row[] {
  const row = (figure: string, subject: keyof typeof limits): Row => ({
    figure: `${figure} / node -e ""`,
    ratio: samples[subject].best / samples.node.best,
    limit: limits[subject],
    note: `${samples[subject].best.toFixed(0)} ms / ${samples.node.best.toFixed(0)} ms, best of ${ROUNDS}`,
  })
  return [
    row('leasectl --help', 'help'),
    row('leasectl ls, SQLite', 'lsSqlite'),
    row('leasectl ls, Azurite', 'lsAzurite'),
    row('leasectl exec … -- true, SQLite', 'exec'),
  ]
}
