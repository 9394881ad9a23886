import type { Cell } from '../../test/unit/tui/support/terminal.ts'
import { ORDER, order } from './order.ts'
import { Player } from './player.ts'
import { Stage } from './stage.ts'
import { MARKER, others } from './streams.ts'

export const SIZE = { columns: 110, rows: 32 }

/** Time of the pictures, UTC. */
const TAKEN_MS = Date.UTC(2026, 2, 2, 14, 2, 56)
/** Time before the pictures at which the live changes begin. */
const SEEN_MS = 120_000
const STEP_MS = 15_000

export interface Shot {
  readonly name: 'streams' | 'tree' | 'timeline' | 'dialog'
  /** The title bar of the picture. */
  readonly title: string
  readonly cells: readonly (readonly Cell[])[]
}

/** Runs the program on an in-memory terminal and captures its screen four times. Deterministic. */
export async function takeShots(): Promise<Shot[]> {
  const stage = new Stage(TAKEN_MS)
  const script = [...order, ...others].sort((a, b) => b.before - a.before)
  let played = 0
  const playUntil = async (nowMs: number) => {
    for (; TAKEN_MS - (script[played]?.before ?? -1) * 1_000 <= nowMs; played++) {
      const happening = script[played]
      if (happening === undefined) break
      stage.nowMs = TAKEN_MS - happening.before * 1_000
      await happening.happen(stage)
    }
    stage.nowMs = nowMs
  }
  await playUntil(TAKEN_MS - SEEN_MS)
  const player = new Player(stage.store, 'sqlite:orders.db', ['top', '--write', '--theme', 'dark'], SIZE)
  try {
    for (let nowMs = TAKEN_MS - SEEN_MS; nowMs <= TAKEN_MS; nowMs += STEP_MS) {
      await playUntil(nowMs)
      if (nowMs === TAKEN_MS) await hold(stage)
      player.type('r')
      await untilSeen(stage, player)
    }
    return await shoot(player)
  } finally {
    await player.close()
  }
}

async function hold(stage: Stage): Promise<void> {
  await stage.hold('orders/4708', 'eva@ops-1', 'ops-1', 95_000)
  await stage.hold('payments/8814', 'settlement', 'aks-3', 12_000)
}

/** The latest changes: more events of one stream end. */
async function untilSeen({ store }: Stage, player: Player): Promise<void> {
  const { summary } = (await store.read(MARKER)) ?? {}
  if (summary === undefined) throw new Error(`no stream ${MARKER}`)
  const done = summary.total - summary.open - summary.failed
  await player.until(rows => rows.some(row => row.includes(MARKER) && new RegExp(`\\b${done}/`).test(row)))
}

const has = (text: string) => (rows: readonly string[]) => rows.some(row => row.includes(text))
const at = (text: string) => (rows: readonly string[]) => rows.some(row => row.startsWith('›') && row.includes(text))

async function shoot(player: Player): Promise<Shot[]> {
  const shots: Shot[] = []
  const take = async (name: Shot['name'], title: string) => shots.push({ name, title, cells: await player.cells() })
  player.type('jjjjjjjjjjjjj')
  await player.until(at(ORDER))
  await take('streams', 'leasectl top')
  player.type('\r')
  await player.until(has('OrderDone'))
  player.type('gjjjj')
  await player.until(at('01.02.00'))
  await take('tree', `leasectl top ${ORDER}`)
  player.type('t')
  await player.until(has('▸ timeline'))
  await take('timeline', `leasectl top ${ORDER}`)
  player.type('1kkk    ')
  await player.until(has('4 marked'))
  player.type('c')
  await player.until(has('eason'))
  player.type('supplier 3 is down until Monday')
  await player.until(has('until Monday'))
  await take('dialog', 'leasectl top')
  return shots
}
