import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import type { DashboardEnd, TerminalRequests } from '../../../src/tui/options.ts'
import { type Drawable, runDashboard } from '../../../src/tui/run.ts'
import type { Action, Size } from '../../../src/tui/state/state.ts'
import type { MouseReport } from '../../../src/tui/terminal/keyboard.ts'
import { ShutdownSignals } from '../../../src/tui/terminal/shutdown.ts'
import { Term, type TermHost } from '../../../src/tui/terminal/terminal.ts'
import type { Frame } from '../../../src/tui/view/row.ts'
import { type EmulatedTerminal, openTerminal } from './support/terminal.ts'

/** Shows its size and the last key; quits with `q`. */
class FakeApp implements Drawable {
  readonly actions: Action[] = []
  terminal: TerminalRequests | undefined
  text = 'nothing'
  /** The work that quitting waits for. */
  lastWork: Promise<void> | undefined
  #size: Size
  #tell: (why: 'data' | 'input') => void = () => {}
  readonly #quit = Promise.withResolvers<void>()

  constructor(size: Size) {
    this.#size = size
  }

  dispatch(action: Action): void {
    this.actions.push(action)
    if (action.kind === 'resize') this.#size = action.size
    if (action.kind === 'key') this.text = action.press.key
    if (this.text === 'q') this.#quit.resolve()
    this.#tell('input')
  }

  dispatchMouse({ button, row, column }: MouseReport): void {
    this.change(`${button} ${column},${row}`)
  }

  change(text: string): void {
    this.text = text
    this.#tell('data')
  }

  frame(): Frame {
    if (this.text === 'broken') throw new Error('a bug')
    const { columns, rows } = this.#size
    const lines = [`${columns}x${rows}`, this.text, ...Array(rows).fill('-')].slice(0, rows)
    return { columns, rows: lines.map(line => ({ spans: [[line, 'plain']] })) }
  }

  onChange(listener: (why: 'data' | 'input') => void): () => void {
    this.#tell = listener
    return () => {
      this.#tell = () => {}
    }
  }

  onRequest(terminal: TerminalRequests): void {
    this.terminal = terminal
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#quit.resolve())
    await this.#quit.promise
    await this.lastWork
  }
}

interface Show {
  readonly terminal: EmulatedTerminal
  readonly app: FakeApp
  readonly events: EventEmitter
  readonly signal: AbortController
  readonly ended: Promise<DashboardEnd>
}

const shows: Show[] = []
afterEach(async () => {
  for (const { signal, ended } of shows.splice(0)) {
    signal.abort()
    await ended.catch(() => {})
  }
})

function open(size: Size = { columns: 20, rows: 4 }, mouse = false): Show {
  const terminal = openTerminal(size)
  const { stdin, stdout } = terminal
  const events = new EventEmitter()
  const process: TermHost = { events, writeNow: text => stdout.write(text), stopJob() {}, readSize() {} }
  const signal = new AbortController()
  const end = new ShutdownSignals(signal.signal)
  const handlers = {
    onStop: (name: NodeJS.Signals) => end.stop(name),
    onFault: (error: unknown) => end.fail(error),
    onResume: () => end.onResume(),
  }
  const term = new Term(stdin, stdout, handlers, process)
  term.open()
  const app = new FakeApp(size)
  const ended = runDashboard(app, {
    ...{ stdin, stdout, term, end, theme: 'dark', mouse, env: {}, signal: signal.signal },
    size: () => ({ columns: stdout.columns, rows: stdout.rows }),
  })
  ended.catch(() => {})
  const show = { terminal, app, events, signal, ended }
  shows.push(show)
  return show
}

/** The screen as soon as it contains the text. */
async function seen(terminal: EmulatedTerminal, text: string): Promise<string[]> {
  for (;;) {
    const screen = await terminal.screen()
    if (screen.some(row => row.includes(text))) return screen
    await new Promise(resolve => setImmediate(resolve))
  }
}

describe('the dashboard on a terminal', () => {
  test('shows frames, passes keys on and draws the changes', async () => {
    const { terminal, app } = open()
    expect(await seen(terminal, 'nothing')).toEqual(['20x4', 'nothing', '-', '-'])
    terminal.type('jk\x1b[B')
    await seen(terminal, 'down')
    expect(app.actions.map(action => action.kind === 'key' && action.press.key)).toEqual(['j', 'k', 'down'])
  })

  test('draws changed data', async () => {
    const { terminal, app } = open()
    app.change('new data')
    expect(await seen(terminal, 'new data')).toEqual(['20x4', 'new data', '-', '-'])
  })

  test('accepts a lone escape', async () => {
    const { terminal } = open()
    terminal.type('\x1b')
    expect((await seen(terminal, 'escape'))[1]).toBe('escape')
  })

  test.each([
    [30, 6],
    [12, 2],
    [12, 6],
  ])('adopts the size %ix%i', async (columns, rows) => {
    const { terminal } = open()
    await seen(terminal, 'nothing')
    await terminal.resize(columns, rows)
    const expected = [`${columns}x${rows}`, 'nothing', '-', '-', '-', '-'].slice(0, rows)
    expect(await seen(terminal, `${columns}x${rows}`)).toEqual(expected)
  })

  test('repaints what another program has overwritten', async () => {
    const { terminal, app } = open()
    await seen(terminal, 'nothing')
    terminal.stdout.write('\x1b[2;1Hbroadcast message\r\n\n\n\n')
    expect((await terminal.screen())[0]).not.toBe('20x4')
    app.terminal?.repaint()
    expect(await seen(terminal, '20x4')).toEqual(['20x4', 'nothing', '-', '-'])
  })

  test('copies a text to the clipboard', async () => {
    const { terminal, app } = open()
    app.terminal?.copy('leasectl ls')
    expect(terminal.written).toContain('\x1b]52;c;')
    expect(await seen(terminal, 'nothing')).toEqual(['20x4', 'nothing', '-', '-'])
  })

  test('passes on clicks and the wheel', async () => {
    const { terminal, signal, ended } = open(undefined, true)
    expect(terminal.written).toContain('\x1b[?1000h\x1b[?1006h')
    terminal.type('\x1b[<65;7;3M')
    expect((await seen(terminal, 'wheel-down'))[1]).toBe('wheel-down 6,2')
    signal.abort()
    await ended
    expect(terminal.written).toMatch(/\x1b\[\?1006l\x1b\[\?1000l[\s\S]*\x1b\[\?1049l/)
  })

  test('takes no mouse unless asked to', async () => {
    const { terminal } = open()
    terminal.type('\x1b[<65;7;3M')
    terminal.type('j')
    expect((await seen(terminal, 'j'))[1]).toBe('j')
    expect(terminal.written).not.toContain('?1000')
  })

  test('rings, notifies and sets the title, which is restored at the end; texts end no sequence early', async () => {
    const { terminal, app, ended } = open()
    app.terminal?.ring('orders/1: 01.00 Pay; card\x07 \x1b]0;owned', '✗ 1 leasectl')
    expect(terminal.written).toContain('\x1b[22;2t\x1b]2;✗ 1 leasectl\x07')
    expect(terminal.written).toContain(
      '\x07\x1b]9;orders/1: 01.00 Pay, card   ]0,owned\x07\x1b]777;notify;leasectl;orders/1:',
    )
    app.terminal?.setTitle('leasectl')
    expect(terminal.written.split('\x1b[22;2t')).toHaveLength(2)
    expect(await seen(terminal, 'nothing')).toEqual(['20x4', 'nothing', '-', '-'])
    terminal.type('q')
    await ended
    expect(terminal.written).toContain('\x1b[23;2t')
  })

  test('says when a text is too long for the clipboard', () => {
    const { terminal, app } = open()
    app.terminal?.copy('x'.repeat(50_001))
    expect(terminal.written).not.toContain('\x1b]52')
    expect(app.actions.at(-1)).toMatchObject({ kind: 'notice', text: expect.stringContaining('not copied') })
  })

  test('returns from the shell, with the current size of the terminal', async () => {
    const { terminal, app, events } = open()
    await seen(terminal, 'nothing')
    app.terminal?.suspend()
    expect(await terminal.state()).toMatchObject({ isAlternate: false })
    app.change('meanwhile')
    terminal.stdout.columns = 16
    events.emit('SIGCONT')
    expect(await seen(terminal, '16x4')).toEqual(['16x4', 'meanwhile', '-', '-'])
    expect(await terminal.state()).toMatchObject({ isAlternate: true })
  })

  describe('ends', () => {
    async function leftAsBefore({ terminal, events }: Show): Promise<void> {
      expect(await terminal.state()).toMatchObject({ isAlternate: false, row: 0, column: 0 })
      expect(await terminal.screen()).toEqual(['', '', '', ''])
      for (const mode of ['?7h', '?25h', '?2004l', '?2026l']) expect(terminal.written).toContain(`\x1b[${mode}`)
      expect(terminal.rawModes.at(-1)).toBe(false)
      expect(terminal.stdin.listenerCount('data')).toBe(0)
      expect(events.eventNames()).toEqual([])
    }

    test('when it is quit', async () => {
      const show = open()
      await seen(show.terminal, 'nothing')
      show.terminal.type('q')
      expect(await show.ended).toEqual({ kind: 'quit' })
      await leftAsBefore(show)
    })

    test('at the end of the input', async () => {
      const show = open()
      show.terminal.endInput()
      expect(await show.ended).toEqual({ kind: 'quit' })
      await leftAsBefore(show)
    })

    test('when the program is stopped', async () => {
      const show = open()
      show.signal.abort()
      expect(await show.ended).toEqual({ kind: 'aborted' })
      await leftAsBefore(show)
    })

    test('when the terminal hangs up', async () => {
      const show = open()
      show.events.emit('SIGHUP', 'SIGHUP')
      expect(await show.ended).toEqual({ kind: 'stopped', signal: 'SIGHUP' })
      await leftAsBefore(show)
    })

    test('with an uncaught error', async () => {
      const show = open()
      show.events.emit('uncaughtException', new Error('a bug'))
      await expect(show.ended).rejects.toThrow('a bug')
      await leftAsBefore(show)
    })

    test('in that case also not before changes in progress are complete', async () => {
      const show = open()
      const underWay = Promise.withResolvers<void>()
      show.app.lastWork = underWay.promise
      let hasEnded = false
      show.ended.catch(() => {
        hasEnded = true
      })
      show.events.emit('uncaughtException', new Error('a bug'))
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
      expect([hasEnded, await terminalIsBack(show)]).toEqual([false, true])
      underWay.resolve()
      await expect(show.ended).rejects.toThrow('a bug')
    })

    async function terminalIsBack({ terminal }: Show): Promise<boolean> {
      return !(await terminal.state()).isAlternate && terminal.rawModes.at(-1) === false
    }
  })
})
