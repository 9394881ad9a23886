import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BlobServiceClient } from '@azure/storage-blob'
import { COMPILED } from './compiled.ts'

/** A running emulator. */
export interface Azurite {
  readonly port: number
  /** The account's blob URL. */
  readonly url: string
  readonly connectionString: string
  stop(): Promise<void>
}

/** One whose process can be killed, and started again with what it has in its folder. */
export interface RestartableAzurite extends Azurite {
  /** Resolves once what it has confirmed by now would survive a kill. */
  saved(): Promise<void>
  /** Kills the process. It forgets what it has confirmed since it last began to write its indexes. */
  kill(): Promise<void>
  /** Starts it again, on another port. */
  restart(): Promise<void>
}

const MAIN = fileURLToPath(new URL('../../node_modules/azurite/dist/src/blob/main.js', import.meta.url))
/** Ends the emulator when its standard input ends, so that it never outlives this process, however that ends. */
const DIE_WITH_PARENT = 'data:text/javascript,process.stdin.on("end",()=>process.exit()).resume()'
/**
 * Keeps idle connections longer than any test lasts: a process suspended for the default five seconds would send its next
 * request over a closed connection, and never learn the outcome.
 */
const KEEP_CONNECTIONS =
  'data:text/javascript,import{Server}from"node:http";Object.defineProperty(Server.prototype,"keepAliveTimeout",{get:()=>36e5,set(){}})'
/** The interval at which the emulator writes its indexes to disk, ms. */
const SAVES_MS = 5_000
const savesEvery = (ms: number) =>
  `data:text/javascript,const set=setInterval;globalThis.setInterval=(f,ms,...a)=>set(f,ms===${SAVES_MS}?${ms}:ms,...a)`
const INDEXES = ['__azurite_db_blob__.json', '__azurite_db_blob_extent__.json']
/** Where there is one, its files cost no time. */
const MEMORY_DISK = '/dev/shm'
/** Node would keep the compiled code when the emulator ends, but it is killed: its next start takes a quarter less time. */
const KEEP_COMPILED =
  'data:text/javascript,import{flushCompileCache}from"node:module";setTimeout(flushCompileCache,5e3).unref()'
/** The emulator's well-known account. */
export const ACCOUNT = 'devstoreaccount1'
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/**
 * Starts Azurite's blob service on a free port of 127.0.0.1, as a child process: in memory, or in a folder of its own for
 * tests of more than ten minutes, because the one in memory then stalls for its garbage collection.
 */
export async function startAzurite({ onDisk = false }: { readonly onDisk?: boolean } = {}): Promise<Azurite> {
  if (onDisk) return startRestartable(SAVES_MS)
  const running = await run(['--inMemoryPersistence'], SAVES_MS)
  return { ...placeOf(running.port), stop: () => kill(running.child) }
}

/** The same in a folder of its own, with its indexes written at this interval, ms. */
export async function startRestartable(saveEveryMs: number): Promise<RestartableAzurite> {
  const location = mkdtempSync(join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), 'leasectl-azurite-'))
  const start = () => run(['--location', location], saveEveryMs)
  let running = await start()
  return {
    get port() {
      return running.port
    },
    get url() {
      return placeOf(running.port).url
    },
    get connectionString() {
      return connectionStringAt(running.port)
    },
    saved: async () => {
      const written = Promise.all(INDEXES.map(name => writtenTwice(join(location, name))))
      await writeUntil(written, connectionStringAt(running.port))
    },
    kill: () => kill(running.child),
    restart: async () => {
      running = await start()
    },
    stop: async () => {
      await kill(running.child)
      rmSync(location, { recursive: true, force: true })
    },
  }
}

async function run(persistence: readonly string[], saveEveryMs: number) {
  const flags = [...persistence, '--silent', '--disableTelemetry', '--skipApiVersionCheck']
  const modules = [DIE_WITH_PARENT, KEEP_CONNECTIONS, KEEP_COMPILED, savesEvery(saveEveryMs)]
  const preloaded = modules.flatMap(module => ['--import', module])
  const child = spawn(process.execPath, [...preloaded, MAIN, ...flags, '--blobPort', '0'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...COMPILED },
  })
  return { child, port: await listeningPort(child) }
}

function placeOf(port: number) {
  return { port, url: `http://127.0.0.1:${port}/${ACCOUNT}`, connectionString: connectionStringAt(port) }
}

/** The connection string of the emulator behind a port, for example of a proxy. */
export function connectionStringAt(port: number): string {
  const endpoint = `http://127.0.0.1:${port}/${ACCOUNT}`
  return `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${endpoint};`
}

async function listeningPort(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('no output of azurite')
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port === undefined) continue
    child.stdout.resume()
    return Number(port)
  }
  throw new Error('azurite ended before it listened')
}

/** The second write began after this call. */
async function writtenTwice(file: string): Promise<void> {
  for (let writes = 0; writes < 2; writes++) {
    const before = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    while (statSync(file, { throwIfNoEntry: false })?.mtimeMs === before) await setTimeout(20)
  }
}

/** Without a write the emulator has nothing to save. */
async function writeUntil(over: Promise<unknown>, connectionString: string): Promise<void> {
  const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('saved')
  await container.createIfNotExists()
  let isOver = false
  const ended = over.finally(() => {
    isOver = true
  })
  for (let write = 0; !isOver; write++) {
    const body = String(write)
    await container.getBlockBlobClient('blob').upload(body, body.length)
    await setTimeout(20)
  }
  await ended
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
