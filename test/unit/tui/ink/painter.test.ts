import { afterEach, describe, expect, test } from 'vitest'
import { Painter } from '../../../../src/tui/ink/painter.ts'
import type { Frame, ScreenRow } from '../../../../src/tui/view/row.ts'
import type { Theme } from '../../../../src/tui/view/theme.ts'
import { RandomFrames, randomOf } from '../support/random-frames.ts'
import { type EmulatedTerminal, openTerminal, type TerminalSize } from '../support/terminal.ts'

const open = new Set<Easel>()
afterEach(() => {
  for (const easel of open) easel.close()
})

/** A painter on a terminal, with frames drawn one after the other. */
class Easel {
  readonly terminal: EmulatedTerminal
  readonly #painter: Painter
  readonly costs: number[] = []

  constructor(size: TerminalSize, first: Frame, theme: Theme = 'dark') {
    this.terminal = openTerminal(size)
    const { stdin, stdout } = this.terminal
    // Ink writes at once if its last write was 9 ms ago; here it always was.
    this.#painter = new Painter(first, {
      stdin,
      stdout,
      theme,
      nowMs: () => 0,
      onCost: costMs => this.costs.push(costMs),
      onFault: error => {
        throw error
      },
    })
    open.add(this)
  }

  close(): void {
    open.delete(this)
    this.#painter.close()
  }

  draw(frame: Frame): Promise<void> {
    this.#painter.draw(() => frame)
    return this.#painter.written()
  }

  /** The screen with its colors, one line per row. */
  async rows(): Promise<string[]> {
    return (await this.terminal.cells()).map(row => JSON.stringify(row))
  }

  repaint(frame: Frame): Promise<void> {
    this.#painter.repaint(() => frame, this.terminal.stdout)
    return this.#painter.written()
  }
}

/** The screen of a program that starts with this frame. */
async function freshRows(size: TerminalSize, frame: Frame): Promise<string[]> {
  const easel = new Easel(size, frame)
  const rows = await easel.rows()
  easel.close()
  return rows
}

function textOf({ spans }: ScreenRow): string {
  return spans
    .map(([text]) => text)
    .join('')
    .trimEnd()
}

describe('frames on a terminal', () => {
  const size = { columns: 60, rows: 16 }

  test('after any history the screen equals a fresh drawing of the last frame', async () => {
    const random = randomOf(7)
    const frames = new RandomFrames(42)
    let now: TerminalSize = size
    let frame = frames.next(now)
    const easel = new Easel(now, frame)
    for (let step = 1; step <= 400; step += 1) {
      const kind = random()
      if (kind < 0.05) {
        now = { columns: 20 + Math.floor(random() * 60), rows: 5 + Math.floor(random() * 16) }
        await easel.terminal.resize(now.columns, now.rows)
        frame = frames.next(now)
        await easel.repaint(frame)
      } else if (kind < 0.1) {
        easel.terminal.stdout.write('\x1b[5;5Hsomebody else wrote this\r\n\n')
        await easel.repaint(frame)
      } else {
        frame = frames.next(now)
        await easel.draw(frame)
      }
      if (step % 8 === 0) expect(await easel.terminal.screen()).toEqual(frame.rows.map(textOf))
      if (step % 40 === 0) expect(await easel.rows()).toEqual(await freshRows(now, frame))
    }
    expect(easel.terminal.clears).toBe(0)
  })

  test('unchanged rows are not written again', async () => {
    const frames = new RandomFrames(3)
    const easel = new Easel(size, frames.next(size))
    for (let step = 0; step < 60; step += 1) await easel.draw(frames.next(size))
    await easel.terminal.screen()
    const paints = easel.terminal.paints.slice(1)
    expect(paints.length).toBeGreaterThan(40)
    expect(paints.flatMap(({ unchanged }) => unchanged)).toEqual([])
  })

  test('a frame that equals the last one writes nothing', async () => {
    const frame = new RandomFrames(5).next(size)
    const easel = new Easel(size, frame)
    const before = easel.terminal.written.length
    await easel.draw({
      columns: frame.columns,
      rows: frame.rows.map(({ ...row }) => ({ ...row, spans: [...row.spans] })),
    })
    expect(easel.terminal.written.length).toBe(before)
    expect(easel.costs.length).toBeGreaterThan(0)
  })

  test('the row under the cursor is highlighted over the whole width, in every theme', async () => {
    const frame: Frame = {
      columns: 20,
      rows: [
        {
          spans: [
            ['› a', 'bad'],
            [' b', 'good'],
          ],
          highlight: 'cursor',
        },
        { spans: [] },
      ],
    }
    for (const theme of ['dark', 'light', 'mono'] as const) {
      const easel = new Easel({ columns: 20, rows: 2 }, frame, theme)
      const [first = [], second = []] = await easel.terminal.cells()
      expect(first.map(cell => cell.inverse)).toEqual(Array(20).fill(true))
      expect(new Set(first.map(cell => cell.foreground))).toEqual(new Set([undefined]))
      expect(second.some(cell => cell.inverse)).toBe(false)
    }
  })

  test('bars under the cursor are not reversed', async () => {
    const row = {
      spans: [
        ['› a ', 'plain'],
        ['██░ ', 'active'],
        ['b', 'plain'],
      ],
      highlight: 'cursor',
    } as const
    const easel = new Easel({ columns: 12, rows: 2 }, { columns: 12, rows: [row, { spans: [] }] }, 'dark')
    const [first = []] = await easel.terminal.cells()
    expect(first.map(cell => (cell.inverse ? 'r' : '-')).join('')).toBe('rrrr---rrrrr')
  })

  test('without colors no color is written', async () => {
    const frame = new RandomFrames(11).next(size)
    const easel = new Easel(size, frame, 'mono')
    const cells = (await easel.terminal.cells()).flat()
    expect(cells.filter(cell => cell.foreground !== undefined || cell.background !== undefined)).toEqual([])
  })
})
