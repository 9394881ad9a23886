import { describe, expect, it, onTestFinished } from 'vitest'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { App } from '../../../src/tui/app.ts'
import type { AppOptions } from '../../../src/tui/options.ts'
import type { ChangeEnd, Ports, Preview } from '../../../src/tui/ports.ts'
import { NO_SETTINGS } from '../../../src/tui/settings.ts'
import { init, memoryStore, run } from '../ops/support.ts'

const explain = (error: unknown) => ({ code: 'fault', message: error instanceof Error ? error.message : '' })

const PREVIEW: Preview = {
  verb: 'cancel',
  question: 'This cancels a',
  more: 0,
  facts: [],
  affected: ['a  inprocess'],
  count: 1,
  command: () => 'leasectl cancel a',
  confirm: { kind: 'yes' },
}

describe('the dashboard without its terminal', () => {
  it('shows the content of the store, and its changes', async () => {
    const { store, shows } = await started()
    await run(store, 'orders/1', init())
    await shows('orders/1')
    await run(store, 'orders/1', { op: 'cancel' })
    await shows('canceled')
  })

  it('sorts the streams as asked from the start', async () => {
    const { store, shows, screen } = await started({ sort: { by: 'name', isDescending: true } })
    for (const name of ['orders/1', 'orders/2', 'orders/3']) await run(store, name, init())
    await shows('3 streams')
    expect(
      screen()
        .match(/orders\/\d/g)
        ?.slice(0, 3),
    ).toEqual(['orders/3', 'orders/2', 'orders/1'])
  })

  it('makes columns as wide as the rows of a filter need, and never narrower while it holds', async () => {
    const { store, press, shows, screen } = await started()
    const width = () => {
      const titles = screen()
        .split('\n')
        .find(line => line.includes('STATUS'))
      return titles?.indexOf('STATUS') ?? 0
    }
    await run(store, 'a-much-longer-name-than-others', init())
    await run(store, 'orders/1', init())
    await shows('2 streams')
    const wide = width()
    press('/', ...'orders', 'enter')
    expect(width()).toBeLessThan(wide)
    press('escape')
    expect(width()).toBe(wide)
    await run(store, 'an-even-longer-name-than-that-one', init())
    await shows('3 streams')
    expect(width()).toBeGreaterThan(wide)
  })

  it('prompts for the name of a protected store before changes are unlocked at the start', async () => {
    const { press, shows } = await started({ writes: 'unlocked' }, { isProtected: true, protectedName: 'prod' })
    await shows('READ-ONLY')
    press('p', 'r', 'o', 'd', 'enter')
    await shows('WRITES 10m')
  })

  it('shows the streams of several stores by name, each with its store, and sorts and filters by the store', async () => {
    const [eu, us] = [memoryStore().store, memoryStore().store]
    const stores = [
      { context: 'eu', store: eu, intervalMs: 1, explain },
      { context: 'us', store: us, intervalMs: 1, explain },
    ]
    for (const [store, name] of [
      [us, 'orders/1'],
      [eu, 'orders/2'],
      [us, 'orders/3'],
    ] as const)
      await run(store, name, init())
    const { press, shows, screen } = await started({}, { stores })
    await shows('3 streams')
    const rows = () => [...screen().matchAll(/(eu|us) +(orders\/\d) /g)].map(([, store, name]) => `${store} ${name}`)
    expect(rows()).toEqual(['us orders/1', 'eu orders/2', 'us orders/3'])
    press('s', 's', 's', 's', 's', 's')
    expect(screen()).toContain('sorted by store')
    expect(rows()).toEqual(['eu orders/2', 'us orders/1', 'us orders/3'])
    press('/', ...'store:us', 'enter')
    expect(rows()).toEqual(['us orders/1', 'us orders/3'])
    press('enter')
    await shows('us:orders/1')
    press(':', ...'open', ' ', ...'orders/2', 'enter')
    await shows('eu:orders/2')
  })

  it('shows the streams of the other stores while one does not answer, and names that one', async () => {
    const [eu, us] = [memoryStore().store, memoryStore().store]
    await run(us, 'orders/1', init())
    const stores = [
      { context: 'eu', store: failing(eu, new StoreUnreachable('no route')), intervalMs: 1, explain },
      { context: 'us', store: us, intervalMs: 1, explain },
    ]
    const { shows } = await started({}, { stores })
    await shows('orders/1')
    await shows('✗ eu stale')
    await shows('eu: no route')
  })

  it('keeps the screen while it is frozen, counts changes, and then shows them all', async () => {
    const { store, press, shows, screen } = await started()
    await run(store, 'orders/1', init())
    await shows('orders/1')
    press('p')
    await run(store, 'orders/2', init())
    await shows(', 1 pending')
    expect(screen()).not.toContain('orders/2')
    press('p')
    await shows('orders/2')
  })

  it('executes a previewed change after yes, and shows each outcome and the end', async () => {
    const asked: unknown[] = []
    const { press, shows } = await withOneStream({
      preview: async (verb, targets) => {
        asked.push([verb, targets])
        return PREVIEW
      },
      carryOut: async (preview, reason, onOutcome) => {
        asked.push([preview, reason])
        onOutcome({ target: { stream: 'orders/1' }, word: 'done', isGood: true, text: 'canceled' })
        return { lines: ['run file /runs/1'] }
      },
    })
    press('c')
    await shows('This cancels a')
    press('w', 'h', 'y', 'enter', 'tab', 'enter')
    await shows('✓ orders/1: canceled: O shows it')
    press('O')
    await shows('run file /runs/1')
    expect(asked).toEqual([
      ['cancel', [{ stream: 'orders/1' }]],
      [PREVIEW, 'why'],
    ])
  })

  it('shows why there is no preview', async () => {
    const { press, shows } = await withOneStream({ preview: () => Promise.reject(new Error('no rights')) })
    press('c')
    await shows('no rights  [fault]')
  })

  it('drops a preview that was canceled', async () => {
    let signal: AbortSignal | undefined
    const { press, shows } = await withOneStream({
      preview: (_verb, _targets, stop) => {
        signal = stop
        return new Promise(() => {})
      },
    })
    press('c')
    await shows('inspecting orders/1')
    press('escape')
    expect(signal?.aborted).toBe(true)
  })

  it('shows the output of a command line, and stops one that is no longer waited for', async () => {
    const stopped: boolean[] = []
    const { press, shows } = await started(
      {},
      {
        runLine: (line, mayWrite, signal) => {
          if (line === 'ls') return Promise.resolve({ exit: 0, lines: [`may write: ${mayWrite}`] })
          signal.addEventListener('abort', () => stopped.push(true))
          return new Promise(() => {})
        },
      },
    )
    press(':', 'l', 's', 'enter')
    await shows('may write: false')
    press('escape', ':', 'x', 'enter', 'escape')
    expect(stopped).toEqual([true])
  })

  it('says at the start what it cannot read of its settings, and works', async () => {
    const fault = '/home/e/.config/leasectl/top.json is not a JSON object'
    const { store, shows } = await started(
      {},
      { settings: { read: () => ({ settings: NO_SETTINGS, fault }), save: () => NO_SETTINGS } },
    )
    await shows(fault)
    await run(store, 'orders/1', init())
    await shows('orders/1')
  })

  it('runs one dry run at a time', async () => {
    let runs = 0
    const { press, shows } = await started(
      {},
      {
        dryRun: () => {
          runs += 1
          return Promise.reject(new Error('store away'))
        },
      },
    )
    press('4', 'D', 'D')
    await shows('store away')
    expect(runs).toBe(1)
  })
})

describe('the end of the dashboard', () => {
  it('follows a key', async () => {
    const { press, ended } = await started()
    press('q')
    await ended
  })

  it('follows a signal, after a change in progress', async () => {
    let finish: (end: ChangeEnd) => void = () => {}
    let stop: AbortSignal | undefined
    const { press, shows, end, ended } = await withOneStream({
      preview: async () => PREVIEW,
      carryOut: (_preview, _reason, _onOutcome, signal) => {
        stop = signal
        return new Promise(resolve => {
          finish = resolve
        })
      },
    })
    press('c')
    await shows('This cancels a')
    press('enter', 'tab', 'enter')
    end()
    let clear = false
    void ended.then(() => {
      clear = true
    })
    await turns()
    expect([stop?.aborted, clear]).toEqual([true, false])
    finish({ lines: [] })
    await ended
  })

  it('follows a bug, which is thrown', async () => {
    const broken = new TypeError('bug')
    const { store } = memoryStore()
    const app = new App(optionsOver(failing(store, broken)))
    await expect(app.run(new AbortController().signal)).rejects.toBe(broken)
  })
})

async function withOneStream(ports: Partial<Ports>) {
  const stage = await started({ writes: 'unlocked' }, ports)
  await run(stage.store, 'orders/1', init())
  await stage.shows('orders/1')
  return stage
}

/** A dashboard over a memory store that it polls continuously. */
async function started(options: Partial<AppOptions> = {}, ports: Partial<Ports> = {}) {
  const { store } = memoryStore()
  const app = new App({ ...optionsOver(store, ports), ...options })
  const stop = new AbortController()
  const ended = app.run(stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await ended.catch(() => {})
  })
  const screen = () => textOf(app)
  return {
    store,
    ended,
    screen,
    end: () => stop.abort(),
    press(...keys: readonly string[]) {
      for (const key of keys) app.dispatch({ kind: 'key', press: { key, text: key.length === 1 ? key : undefined } })
    },
    /** Resolves with the first frame that contains this. */
    async shows(text: string): Promise<void> {
      if (screen().includes(text)) return
      await new Promise<void>(resolve => {
        const forget = app.onChange(() => {
          if (!screen().includes(text)) return
          forget()
          resolve()
        })
      })
    },
  }
}

function optionsOver(store: StreamStore, ports: Partial<Ports> = {}): AppOptions {
  const none = () => Promise.reject(new Error('not in this test'))
  return {
    ports: {
      store,
      address: store.address,
      isProtected: false,
      protectedName: '',
      settings: { read: () => ({ settings: NO_SETTINGS, fault: undefined }), save: () => NO_SETTINGS },
      preview: none,
      carryOut: none,
      dryRun: none,
      runLine: none,
      completeLine: none,
      switchStore: none,
      commandFor: () => 'leasectl ls',
      explain,
      ...ports,
    },
    intervalMs: 1,
    writes: 'locked',
    time: 'relative',
    isAscii: false,
    size: { columns: 100, rows: 30 },
    version: '0.0.0',
  }
}

function failing(store: StreamStore, error: Error): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'list' || key === 'changeToken') return () => Promise.reject(error)
      return Reflect.get(target, key)
    },
  })
}

function textOf(app: App): string {
  return app
    .frame()
    .rows.map(row => ` ${row.spans.map(([text]) => text).join('')} `)
    .join('\n')
}

/** Lets ready work continue. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
}
