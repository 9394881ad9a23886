import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Row } from './lib/bench.ts'
import { withBundled } from './lib/bundled.ts'
import { drawing, frameCosts, percentile, SCREENS, type Screen } from './lib/top-drawing.ts'
import { busyShare, firstFrames, peakMemory, restShare } from './lib/top-program.ts'

export const name = 'top'

/**
 * Upper bounds: Ink relative to the cheapest way to draw the same frames; keys to 30 ms; frames with many streams to those with
 * few; shares of a core; the first frame to the start-up time of Node; memory to 300 MB.
 */
export const limits = { ink: 4, key: 1, growth: 1.2, restOld: 0.01, restYoung: 0.03, firstFrame: 12, memory: 1 }

const KEY_MS = 30
const MEMORY_MB = 300
const START_ROUNDS = 5
const MINUTE_MS = 60_000

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    const drawn = await withBundled('bench/lib/child-top.ts', async ({ child, program }) => {
      const rows: Row[] = []
      for (const screen of SCREENS) rows.push(...(await drawingRows(child, screen)))
      return [...rows, ...(await programRows(program, folder))]
    })
    const frames = await withBundled('bench/lib/child-top-frames.ts', async ({ child }) => {
      const rows: Row[] = []
      for (const screen of SCREENS) rows.push(await growthRow(child, screen))
      return rows
    })
    return [...drawn, ...frames]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const OF = { streams: 'streams', tree: 'events of a stream' }

async function drawingRows(child: string, screen: Screen): Promise<Row[]> {
  const { ink, raw, latenciesMs } = await drawing(child, screen)
  const p95 = percentile(latenciesMs, 95)
  const frames = `${ink.frames.toFixed(0)} and ${raw.frames.toFixed(0)} frames/s`
  return [
    {
      figure: `processor time of top, 10 000 ${OF[screen]}, 3 000 changes/s / of a line-diff writer`,
      ratio: ink.busyMs / raw.busyMs,
      limit: limits.ink,
      note: `${(ink.busyMs / 10).toFixed(1)} % / ${(raw.busyMs / 10).toFixed(1)} % of a core, ${frames}`,
    },
    {
      figure: `key until it is written, the same, p95 / ${KEY_MS} ms`,
      ratio: p95 / KEY_MS,
      limit: limits.key,
      note: `p50 ${percentile(latenciesMs, 50).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${latenciesMs.length} keys`,
    },
  ]
}

async function growthRow(child: string, screen: Screen): Promise<Row> {
  const { many, few } = await frameCosts(child, screen)
  return {
    figure: `frame after a key, 10 000 ${OF[screen]} / 100`,
    ratio: many / few,
    limit: limits.growth,
    note: `${many.toFixed(2)} ms / ${few.toFixed(2)} ms`,
  }
}

async function programRows(program: string, folder: string): Promise<Row[]> {
  const start = await firstFrames(program, folder, START_ROUNDS)
  const peakMb = await peakMemory(program, folder)
  const rest = async (words: string, ageMs: number, limit: number) =>
    share(`top at rest, 10 000 streams ${words}, SQLite / a core`, await restShare(program, folder, ageMs), limit)
  return [
    {
      figure: 'first frame of top, 10 000 streams, SQLite / node -e ""',
      ratio: start.top.best / start.node.best,
      limit: limits.firstFrame,
      note: `${start.top.best.toFixed(0)} ms / ${start.node.best.toFixed(0)} ms, best of ${START_ROUNDS}`,
    },
    {
      figure: `memory of top, 10 000 streams and one of 10 000 events open / ${MEMORY_MB} MB`,
      ratio: peakMb / MEMORY_MB,
      limit: limits.memory,
      note: `${peakMb.toFixed(0)} MB`,
    },
    await rest('older than ten minutes', 60 * MINUTE_MS, limits.restOld),
    await rest('younger than a minute', 5_000, limits.restYoung),
    share('top, 10 000 streams, 50 changes/s, SQLite / a core', await busyShare(program, folder, 'sqlite')),
    share('top, 100 streams, 50 changes/s, Azurite / a core', await busyShare(program, folder, 'azurite')),
  ]
}

function share(figure: string, ratio: number, limit?: number): Row {
  const note = `${(ratio * 100).toFixed(1)} %`
  return { figure: `processor time of ${figure}`, ratio, note, ...(limit === undefined ? {} : { limit }) }
}
