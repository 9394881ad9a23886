import { Painter } from './ink/painter.ts'
import type { DashboardEnd, DashboardHost, TerminalRequests } from './options.ts'
import type { Action, Size } from './state/state.ts'
import { type FrameClock, FrameScheduler } from './terminal/frame-scheduler.ts'
import { Keyboard, type MouseReport } from './terminal/keyboard.ts'
import { notification, windowTitle } from './terminal/notification.ts'
import type { ShutdownSignals } from './terminal/shutdown.ts'
import { clipboardSequence, type Term } from './terminal/terminal.ts'
import type { Frame } from './view/row.ts'
import type { Theme } from './view/theme.ts'

/** The dashboard without its terminal. */
export interface Drawable {
  dispatch(action: Action): void
  dispatchMouse(report: MouseReport): void
  frame(): Frame
  onChange(listener: (why: 'data' | 'input') => void): () => void
  onRequest(terminal: TerminalRequests): void
  /** Resolves when the user has quit or the signal was aborted. */
  run(signal: AbortSignal): Promise<void>
}

export interface DashboardSession extends DashboardHost {
  readonly mouse?: boolean
  readonly theme: Theme
  readonly term: Term
  readonly end: ShutdownSignals
  size(): Size
}

/** Draws the app and passes it the keys until it ends. The modes of the terminal are left to `term`. */
export async function runDashboard(app: Drawable, stage: DashboardSession): Promise<DashboardEnd> {
  const { stdin, term, end } = stage
  const picture = new ScreenDrawer(app, stage)
  let hasInputEnded = false
  const keyboard = new Keyboard(stdin, {
    onAction: action => app.dispatch(action),
    ...(stage.mouse && { onMouse: (report: MouseReport) => app.dispatchMouse(report) }),
    onEnd() {
      hasInputEnded = true
      end.stop('SIGHUP')
    },
  })
  const running = app.run(end.signal)
  try {
    await Promise.race([running, end.failed])
  } finally {
    keyboard.close()
    picture.close()
    term.close()
    // Also after a bug: changes in flight complete and release their leases.
    await running.catch(() => {})
  }
  if (hasInputEnded || !end.signal.aborted) return { kind: 'quit' }
  return end.stoppedBy === undefined ? { kind: 'aborted' } : { kind: 'stopped', signal: end.stoppedBy }
}

/** Draws frames: when, and whether the whole screen. */
class ScreenDrawer {
  readonly #app: Drawable
  readonly #stage: DashboardSession
  readonly #gate: FrameScheduler
  readonly #painter: Painter
  readonly #stopListening: () => void
  #isAnew = false

  constructor(app: Drawable, stage: DashboardSession) {
    const { stdin, stdout, theme, term, end } = stage
    this.#app = app
    this.#stage = stage
    this.#gate = new FrameScheduler(() => this.#draw(), CLOCK)
    const first = app.frame()
    term.enterScreen()
    if (stage.mouse) term.takeMouse()
    this.#painter = new Painter(first, {
      stdin,
      stdout,
      theme,
      nowMs: CLOCK.nowMs,
      mayWrite: () => term.hasScreen,
      onCost: costMs => this.#gate.recordCost(costMs),
      onFault: error => end.fail(error),
    })
    this.#stopListening = app.onChange(why => (why === 'input' ? this.#gate.flush() : this.#gate.request()))
    app.onRequest({
      copy: text => this.#copy(text),
      ring: (text, title) => this.#ring(text, title),
      setTitle: title => this.#setTitle(title),
      suspend: () => term.suspend(),
      repaint: () => this.#repaint(),
    })
    end.onResume = this.#resize
    stdout.on('resize', this.#resize)
    this.#catchUp()
  }

  close(): void {
    this.#stopListening()
    this.#stage.end.onResume = () => {}
    this.#stage.stdout.off('resize', this.#resize)
    this.#gate.close()
    this.#painter.close()
  }

  #draw(): void {
    if (this.#stage.term.isSuspended) return
    const make = () => this.#app.frame()
    if (this.#isAnew) this.#painter.repaint(make, this.#stage.stdout)
    else this.#painter.draw(make)
    this.#isAnew = false
  }

  #repaint(): void {
    this.#isAnew = true
    this.#gate.flush()
  }

  /** When their size changes, terminals move, cut or wrap their content, each in its own way. */
  readonly #resize = (): void => {
    this.#app.dispatch({ kind: 'resize', size: this.#stage.size() })
    this.#repaint()
  }

  /** The size may have changed before the listener was added. */
  #catchUp(): void {
    const { columns, rows } = this.#app.frame()
    const size = this.#stage.size()
    if (columns !== size.columns || rows.length !== size.rows) this.#resize()
  }

  #ring(text: string, title: string): void {
    if (!this.#stage.term.hasScreen) return
    this.#setTitle(title)
    this.#stage.stdout.write(notification(text, Boolean(this.#stage.env.TMUX)))
  }

  #setTitle(title: string): void {
    if (!this.#stage.term.hasScreen) return
    this.#stage.term.saveTitle()
    this.#stage.stdout.write(windowTitle(title))
  }

  #copy(text: string): void {
    const sequence = clipboardSequence(text, Boolean(this.#stage.env.TMUX))
    if (sequence !== undefined) this.#stage.stdout.write(sequence)
    else this.#app.dispatch({ kind: 'notice', text: 'not copied: the text is too long', style: 'warn' })
  }
}

const CLOCK: FrameClock = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
  soon: queueMicrotask,
}
