import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll } from 'vitest'
import type { Run } from '../../../src/cli/command.ts'
import type { Kind, LiveView, RuntimeStore, StoreSource, Terminal } from '../../../src/cli/runtime.ts'
import { runCommandLine } from '../../../src/commands/main.ts'
import { declarations, programOf } from '../../../src/commands/program.ts'
import type { ProgramRuntime } from '../../../src/commands/top/dashboard.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { LineChannel } from '../../../src/process/line-process.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { openStore as openRealStore } from '../../../src/store/open.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { DashboardEnd, DashboardOptions } from '../../../src/tui/options.ts'

/** 2026-03-01T12:00:00Z: the clock of these tests is fixed unless a test moves it. */
export const NOON = Date.UTC(2026, 2, 1, 12)

/** The folder of run files, and that of settings. */
export const STATE_HOME = join(tmpdir(), `leasectl-state-${process.pid}-${performance.now()}`)
afterAll(() => rmSync(STATE_HOME, { recursive: true, force: true }))

export interface World {
  readonly store: StreamStore
  nowMs: number
}

export function newWorld(): World {
  const world: { store: StreamStore; nowMs: number } = { nowMs: NOON, store: undefined as unknown as StreamStore }
  world.store = openMemoryStore({ clock: () => world.nowMs, random: () => 0.5 })
  return world
}

export interface Setting {
  readonly env?: Record<string, string>
  /** stdin and stderr are terminals; prompts get this answer. */
  readonly answer?: string | undefined
  readonly terminal?: boolean
  /** stdin is a pipe, but the process has a terminal, and stderr is it. */
  readonly controllingTerminal?: boolean
  /** stdout is a terminal with this number of columns. */
  readonly columns?: number
  readonly stdin?: string
  readonly files?: Record<string, string>
  readonly source?: StoreSource
  /** The store is one of a protected context. */
  readonly isProtected?: boolean
  /** Its context is for reading only. */
  readonly isReadOnly?: boolean
  /** The context that named the store. */
  readonly context?: string
  /** Processes of this machine. */
  readonly running?: readonly number[]
  readonly startedAs?: string
  readonly signal?: AbortSignal
  readonly store?: StreamStore
  /** The screen of `-w`. */
  readonly live?: LiveView
  /** The actions on the dashboard, until it is quit. */
  readonly dashboard?: (options: DashboardOptions, runtime: ProgramRuntime) => Promise<DashboardEnd>
  /** Other processes of this program that exchange messages. */
  readonly startLineProcess?: (argv: readonly string[], world: World) => LineChannel
  /** Lines of standard input as they arrive. */
  readonly heard?: AsyncIterable<string>
  /** Second stores by the address with which they are opened; others are opened normally. */
  readonly others?: Readonly<Record<string, StreamStore>>
  /** Addresses of protected contexts among them. */
  readonly protectedOthers?: readonly string[]
}

export interface Ran {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
  readonly questions: readonly string[]
}

/** Runs a command line over the world's store. */
export async function cli(world: World, argv: readonly string[], setting: Setting = {}): Promise<Ran> {
  const { runtime, written } = fakeRuntime(world, argv, setting)
  const exit = await runCommandLine(runtime)
  return { exit, stdout: written.stdout, stderr: written.stderr, questions: written.questions }
}

/** Of a context that is not named by the address itself. */
function addressOf(context: string): string {
  return context.includes(':') ? context : `azurite:store-${context}`
}

export function fakeRuntime(world: World, argv: readonly string[], setting: Setting = {}) {
  const written = { stdout: '', stderr: '', questions: [] as string[] }
  let kind: Kind = 'reads'
  let opened: RuntimeStore | undefined
  let ids = 0
  const otherStores: StreamStore[] = []
  const address = {
    address: 'memory:',
    source: setting.source ?? 'default',
    isProtected: setting.isProtected ?? false,
    ...(setting.isReadOnly && { isReadOnly: true }),
    ...(setting.context === undefined ? {} : { context: setting.context }),
  } as const
  const runtime: ProgramRuntime = {
    env: { XDG_STATE_HOME: STATE_HOME, XDG_CONFIG_HOME: STATE_HOME, ...setting.env },
    argv,
    stdout: sink(setting.columns, text => (written.stdout += text)),
    stderr: sink(setting.terminal || setting.controllingTerminal ? 100 : undefined, text => (written.stderr += text)),
    stdin: {
      isTty: setting.terminal ?? false,
      canAsk: (setting.terminal ?? false) || (setting.controllingTerminal ?? false),
      readAll: async () => setting.stdin ?? '',
      readBytes: async () => Buffer.from(setting.stdin ?? ''),
      ask: async question => {
        written.questions.push(question)
        return setting.answer
      },
    },
    startedAs: setting.startedAs ?? 'leasectl',
    signal: setting.signal ?? new AbortController().signal,
    host: 'testhost',
    pid: 41,
    actor: 'tester@testhost',
    get kind() {
      return kind
    },
    get opened() {
      return opened
    },
    nowMs: () => world.nowMs,
    newId: () => `00000000-0000-7000-8000-${String(++ids + callCount * 100).padStart(12, '0')}`,
    readFile: async path => {
      const text = setting.files?.[path]
      if (text === undefined) throw new Error(`ENOENT: ${path}`)
      return Buffer.from(text)
    },
    readBytes: async function* (path, fromByte = 0) {
      const text = path === undefined ? (setting.stdin ?? '') : setting.files?.[path]
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
      const bytes = Buffer.from(text).subarray(fromByte)
      for (let at = 0; at < bytes.length; at += 7) {
        if (runtime.signal.aborted) throw new DOMException('interrupted', 'AbortError')
        yield bytes.subarray(at, at + 7)
      }
    },
    begin: what => {
      kind = what
    },
    openStore: async () => {
      opened = { ...address, store: setting.store ?? world.store }
      return opened
    },
    openOther: async choice => {
      const where = typeof choice === 'string' ? choice : (choice.context ?? '')
      const own = setting.others?.[where] ?? (typeof choice === 'string' ? undefined : (setting.store ?? world.store))
      const store = own ?? (await openRealStore(where, {}))
      if (own === undefined) otherStores.push(store)
      const isProtected = setting.protectedOthers?.includes(where) ?? false
      if (typeof choice === 'string' || choice.context === undefined)
        return { address: where, source: 'flag', isProtected, store }
      return { address: addressOf(where), source: 'context', context: where, isProtected, store }
    },
    describeStore: async ({ store, context }) =>
      context !== undefined
        ? { ...address, address: addressOf(context), source: 'context', context }
        : store !== undefined && setting.others?.[store] !== undefined
          ? { ...address, address: store, source: 'flag' }
          : address,
    embeddedAddress: async () => 'memory:',
    isRunning: pid => setting.running?.includes(pid) ?? false,
    startSelf: () => {
      throw new Error('these tests start no process')
    },
    startLineProcess: async words => {
      if (setting.startLineProcess === undefined) throw new Error('these tests start no process')
      return setting.startLineProcess(words, world)
    },
    readLines: () => setting.heard ?? emptyLines(),
    openLiveView: async () => {
      if (setting.live === undefined) throw new Error('this test has no terminal to draw on')
      return setting.live
    },
    openDashboard: async options => {
      if (setting.dashboard === undefined) throw new Error('this test has no dashboard')
      return setting.dashboard(options, runtime)
    },
    runCommand: runCommandLine,
    close: async () => {
      for (const store of otherStores) await store.close()
    },
  }
  callCount++
  return { runtime, written }
}

async function* emptyLines(): AsyncGenerator<string> {}

/** Command ids of different command lines must differ. */
let callCount = 0

function sink(columns: number | undefined, add: (text: string) => void): Terminal {
  return {
    isTty: columns !== undefined,
    columns,
    write: async chunk => add(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')),
  }
}

type Register<Options> = (parent: Command, runtime: ProgramRuntime, go: Run<Options>) => void

/** The options that a command reads from its arguments, which begin with the command's name. */
export async function optionsFrom<Options>(register: Register<Options>, argv: readonly string[]): Promise<Options> {
  const { runtime } = fakeRuntime(newWorld(), argv)
  const { resolve, promise } = Promise.withResolvers<Options>()
  const program = new Command('leasectl').exitOverride().enablePositionalOptions()
  program.configureOutput({ writeErr: () => {}, writeOut: () => {}, outputError: () => {} })
  register(program, runtime, async options => {
    resolve(options)
    return undefined
  })
  await program.parseAsync([...argv], { from: 'user' })
  return promise
}

/** The bytes of a stream: to show that they are unchanged. */
export async function bodyOf(world: World, name: string): Promise<string | undefined> {
  const stored = await world.store.read(name)
  return stored === undefined ? undefined : Buffer.from(stored.body).toString('utf8')
}

/** Status by event id. */
export async function statuses(world: World, name: string): Promise<Record<string, string>> {
  const view = await readStream(world.store, name)
  return Object.fromEntries((view?.stream.events ?? []).map(event => [event.id, event.status]))
}

const DECLARATIONS = await declarations()

/** Every command path, without aliases and hidden commands. */
export function allCommands(): Command[] {
  const { runtime } = fakeRuntime(newWorld(), [])
  const walk = (command: Command): Command[] => {
    const visible = command.createHelp().visibleCommands(command)
    return [command, ...command.commands.filter(sub => visible.includes(sub)).flatMap(walk)]
  }
  return walk(programOf(DECLARATIONS, runtime, () => {}))
}

/** The one JSON document of an output. */
export function json(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>
}
