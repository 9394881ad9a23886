import type { DataReader, LiveData } from './data/types.ts'
import type { TerminalRequests } from './options.ts'
import type { Ports, Preview, SignalText } from './ports.ts'
import type { Action, Effect } from './state/state.ts'

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

/** Carries out the side effects that the state requests, and reports results as actions. */
export class Effects {
  /** Resolves when the user quits. */
  readonly quit: Promise<void>
  terminal: TerminalRequests | undefined
  readonly #ports: Ports
  readonly #store: LiveData
  readonly #poll: DataReader
  readonly #report: (action: Action) => void
  readonly #end = new AbortController()
  #preview: AbortController | undefined
  #line: AbortController | undefined
  /** Running lines that may write, until they end. */
  readonly #changing = new Set<Promise<void>>()
  #batch: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined
  #dryRun: Promise<void> | undefined
  #resolveQuit = () => {}
  readonly #carriers: { readonly [Kind in Effect['kind']]: (effect: EffectOf<Kind>) => void } = {
    preview: effect => this.#startPreview(effect),
    'forget-preview': () => this.#preview?.abort(),
    'carry-out': effect => this.#change(effect.preview, effect.reason, effect.given),
    'stop-batch': () => this.#batch?.stop.abort(),
    'run-line': effect => this.#runLine(effect),
    complete: effect => this.#complete(effect),
    'switch-store': effect => this.#switchStore(effect),
    'stop-line': () => this.#line?.abort(),
    'save-settings': effect => this.#saveSettings(effect),
    'read-now': () => this.#poll.readNow(),
    'dry-run': () => this.#startDryRun(),
    copy: effect => this.terminal?.copy(effect.text),
    ring: effect => this.terminal?.ring(effect.text, effect.title),
    title: effect => this.terminal?.setTitle(effect.title),
    suspend: () => this.terminal?.suspend(),
    repaint: () => this.terminal?.repaint(),
    quit: () => this.#resolveQuit(),
  }

  constructor(ports: Ports, store: LiveData, poll: DataReader, report: (action: Action) => void) {
    this.#ports = ports
    this.#store = store
    this.#poll = poll
    this.#report = action => {
      if (!this.#end.signal.aborted) report(action)
    }
    this.quit = new Promise(resolve => {
      this.#resolveQuit = resolve
    })
  }

  carryOut<Kind extends Effect['kind']>(effect: EffectOf<Kind>): void {
    const carry: (what: EffectOf<Kind>) => void = this.#carriers[effect.kind]
    carry(effect)
  }

  /** Stops running work. Resolves when changes in flight have ended and released their leases. */
  async stop(): Promise<void> {
    this.#end.abort()
    for (const running of [this.#preview, this.#line, this.#batch?.stop]) running?.abort()
    await Promise.all([this.#batch?.ended, ...this.#changing])
  }

  #startPreview({ request, verb, targets }: EffectOf<'preview'>): void {
    this.#preview?.abort()
    this.#preview = new AbortController()
    const { signal } = this.#preview
    this.#ports.preview(verb, targets, signal).then(
      preview => this.#report({ kind: 'previewed', request, preview }),
      error => {
        if (!signal.aborted) this.#report({ kind: 'preview-failed', request, message: this.#messageFor(error) })
      },
    )
  }

  #change(preview: Preview, reason: string, given: SignalText | undefined): void {
    const stop = new AbortController()
    const ended = this.#ports
      .carryOut(preview, reason, outcome => this.#report({ kind: 'outcome', outcome }), stop.signal, given)
      .then(
        end => this.#report({ kind: 'batch-ended', end }),
        error => this.#report({ kind: 'batch-ended', end: { fault: this.#messageFor(error) } }),
      )
      .then(() => this.#poll.readNow())
    this.#batch = { stop, ended }
  }

  #runLine({ line, mayWrite }: EffectOf<'run-line'>): void {
    this.#line?.abort()
    const running = new AbortController()
    this.#line = running
    const ended = this.#ports
      .runLine(line, mayWrite, running.signal)
      .catch(error => ({ exit: 1, lines: [this.#messageFor(error)] }))
      .then(output => {
        // Also after a stop: the line may have changed something by then.
        if (this.#line === running) this.#report({ kind: 'line-answered', output })
        this.#poll.readNow()
      })
      .finally(() => this.#changing.delete(ended))
    if (mayWrite) this.#changing.add(ended)
  }

  #complete({ line, typed }: EffectOf<'complete'>): void {
    this.#ports.completeLine(line, this.#end.signal).then(
      words => this.#report({ kind: 'completed', typed, words }),
      // a half-typed line is no place for an error
      () => this.#report({ kind: 'completed', typed, words: [] }),
    )
  }

  #switchStore({ context }: EffectOf<'switch-store'>): void {
    this.#ports.switchStore(context).then(
      () => this.#resolveQuit(),
      error => this.#report({ kind: 'notice', text: this.#messageFor(error), style: 'bad' }),
    )
  }

  #saveSettings({ change }: EffectOf<'save-settings'>): void {
    try {
      this.#report({ kind: 'settings-saved', settings: this.#ports.settings.save(change) })
    } catch (error) {
      this.#report({ kind: 'notice', text: `not saved: ${this.#messageFor(error)}`, style: 'bad' })
    }
  }

  #startDryRun(): void {
    if (this.#dryRun !== undefined) return
    this.#store.setDryRun({ kind: 'running', sinceMs: this.#ports.store.nowMs() })
    this.#dryRun = this.#ports
      .dryRun(this.#end.signal)
      .then(
        dryRun => this.#store.setDryRun(dryRun),
        error => this.#store.setDryRun({ kind: 'failed', message: this.#messageFor(error) }),
      )
      .finally(() => {
        this.#dryRun = undefined
      })
  }

  #messageFor(error: unknown): string {
    const { message, code } = this.#ports.explain(error)
    return `${message}  [${code}]`
  }
}
