import { spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { closeSync, createReadStream, openSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { isSea } from 'node:sea'
import { MAX_READ_BYTES } from '../stream/limits.ts'
import { errorCode } from '../util/errors.ts'
import { firstBytes } from '../util/first-bytes.ts'
import type { Input, Kind, OpenOptions, OtherProcess, Runtime, RuntimeStore, Terminal } from './runtime.ts'

/**
 * The runtime of this process.
 *
 * @param signal aborts with the name of the first signal
 */
export function processRuntime(signal: AbortSignal, openLiveView: Runtime['openLiveView']): Runtime {
  const { env } = process
  let kind: Kind = 'reads'
  let opened: RuntimeStore | undefined
  const others: RuntimeStore[] = []
  const describeStore: Runtime['describeStore'] = async choice => {
    const [{ chooseStore, contextsFor }, { defaultAddress }] = await Promise.all([
      import('./store.ts'),
      import('../store/open.ts'),
    ])
    return chooseStore(choice, env, defaultAddress, contextsFor(choice, env, kind))
  }
  const openDescribed = async (where: Omit<RuntimeStore, 'store'>, options?: OpenOptions): Promise<RuntimeStore> => {
    const [{ storeEnvironment }, { openStore }] = await Promise.all([import('./store.ts'), import('../store/open.ts')])
    const credentials = await storeEnvironment(where, env, options)
    // A mistyped address would look like an empty store; nobody types the default one.
    const store = await openStore(where.address, credentials, { mustExist: where.source !== 'default' })
    if (!where.isReadOnly) return { ...where, store }
    const { readOnlyStore } = await import('./contexts/read-only.ts')
    return { ...where, store: readOnlyStore(store, where) }
  }
  return {
    env,
    argv: process.argv.slice(2),
    stdout: terminal(() => process.stdout),
    stderr: terminal(() => process.stderr),
    stdin: standardInput(signal),
    startedAs: env.npm_command === 'exec' ? 'npx leasectl' : 'leasectl',
    signal,
    get host() {
      return hostname()
    },
    pid: process.pid,
    get actor() {
      return `${userName(env)}@${hostname()}`
    },
    get kind() {
      return kind
    },
    get opened() {
      return opened
    },
    nowMs: () => Date.now(),
    newId: () => uuidV7(Date.now()),
    // the limit is for devices without end such as /dev/zero
    readFile: path => firstBytes(createReadStream(path), MAX_READ_BYTES),
    readBytes: (path, start = 0) => {
      if (path !== undefined) return createReadStream(path, { start, signal, highWaterMark: READ_AT_ONCE })
      const stop = () => process.stdin.destroy(new DOMException('interrupted', 'AbortError'))
      signal.addEventListener('abort', stop, { once: true })
      return process.stdin
    },
    begin: what => {
      kind = what
    },
    describeStore,
    async openStore(choice, options) {
      opened = await openDescribed(await describeStore(choice), options)
      return opened
    },
    async openOther(choice) {
      const other = await openDescribed(await describeStore(typeof choice === 'string' ? { store: choice } : choice))
      others.push(other)
      return other
    },
    async embeddedAddress() {
      const { embeddedAddress, formatAddress } = await import('../store/open.ts')
      return formatAddress(embeddedAddress(env))
    },
    isRunning,
    startSelf,
    async startLineProcess(argv) {
      const { startLineProcess } = await import('../process/line-process.ts')
      const { command, args } = ownProgram()
      return startLineProcess(command, [...args, ...argv])
    },
    readLines,
    openLiveView,
    close: async () => {
      const all = opened === undefined ? others : [opened, ...others]
      await Promise.all(all.map(({ store }) => store.close()))
    },
  }
}

/** Bytes of a file that are read at a time: while they are put, the next are read. */
const READ_AT_ONCE = 1024 * 1024

/** @param stream opened on first use: a stream that a command does not use costs nothing */
function terminal(stream: () => NodeJS.WriteStream): Terminal {
  return {
    get isTty() {
      return stream().isTTY === true
    },
    get columns() {
      return stream().isTTY ? stream().columns : undefined
    },
    write: chunk => new Promise(resolve => void stream().write(chunk, () => resolve())),
  }
}

function standardInput(signal: AbortSignal): Input {
  return {
    get isTty() {
      return process.stdin.isTTY === true
    },
    get canAsk() {
      return process.stdin.isTTY === true || hasTerminal()
    },
    async readAll() {
      return Buffer.from(await this.readBytes()).toString('utf8')
    },
    async readBytes() {
      const stop = () => process.stdin.destroy(new DOMException('interrupted', 'AbortError'))
      signal.addEventListener('abort', stop, { once: true })
      return firstBytes(process.stdin, MAX_READ_BYTES)
    },
    async ask(question) {
      const { createInterface } = await import('node:readline/promises')
      const input = process.stdin.isTTY ? process.stdin : await openTerminal()
      const lines = createInterface({ input, output: process.stderr })
      const ended = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
      // readline handles Ctrl-C itself and ignores Esc; both mean no here
      lines.once('SIGINT', () => lines.close())
      const onKey = (_text: string, key: { name?: string } | undefined) => {
        if (key?.name === 'escape') lines.close()
      }
      input.on('keypress', onKey)
      try {
        return await Promise.race([lines.question(question, { signal }), ended])
      } catch {
        return undefined
      } finally {
        input.off('keypress', onKey)
        lines.close()
        if (input !== process.stdin) input.destroy()
      }
    },
  }
}

/** The terminal of the process, whatever its standard input is. Daemons and jobs of cron have none. */
const TERMINAL = '/dev/tty'

function hasTerminal(): boolean {
  try {
    closeSync(openSync(TERMINAL, 'r'))
    return true
  } catch {
    return false
  }
}

async function openTerminal(): Promise<NodeJS.ReadStream> {
  const { ReadStream } = await import('node:tty')
  return new ReadStream(openSync(TERMINAL, 'r'))
}

async function* readLines(): AsyncGenerator<string> {
  const { createInterface } = await import('node:readline')
  yield* createInterface({ input: process.stdin })
}

/** A container can run under a user id without a name. */
function userName(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username
  } catch {
    return env.USER ?? env.LOGNAME ?? `uid${process.getuid?.() ?? ''}`
  }
}

/** The command that starts this program again. The single executable needs no script. */
function ownProgram(): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: isSea() ? [] : [...process.execArgv, process.argv[1] ?? ''] }
}

function startSelf(argv: readonly string[]): OtherProcess {
  const { command, args } = ownProgram()
  const child = spawn(command, [...args, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    written.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    written.stderr += text
  })
  const stdout = new Promise<string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(written.stdout)
      else reject(new Error(`a child process ended with ${code ?? signal}: ${written.stderr.trim()}`))
    })
  })
  return { stdout, stop: () => void child.kill() }
}

/** Signal 0 only checks. EPERM means that the process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** A UUIDv7 (RFC 9562): sorts by time, so that command ids in a journal do too. */
export function uuidV7(nowMs: number): string {
  const bytes = randomFillSync(Buffer.alloc(16))
  bytes.writeUIntBE(nowMs, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
