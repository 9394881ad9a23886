import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const PATIENCE_MS = 30_000

/**
 * Starts the command after the folder, and waits for the end of its standard input, which is the end of this process,
 * by a signal, a fault or normally. Then it stops the server and removes the folder.
 */
const GUARD = 'folder=$1; shift; "$@" >"$folder/log" 2>&1 & read -r _; kill -INT $!; wait $!; rm -rf "$folder"'

/** A user and group to run as. */
export interface Identity {
  readonly uid: number
  readonly gid: number
}

/** A server on a port of this machine. */
export interface Server {
  readonly port: number
  stop(): Promise<void>
}

/**
 * Starts a server on a free port; it does not outlive this process. Its folder is removed at the end.
 *
 * @throws if it does not listen within half a minute, with its output
 */
export async function startGuarded(
  folder: string,
  argv: (port: number) => readonly string[],
  identity: Partial<Identity> = {},
): Promise<Server> {
  const port = await freePort()
  const args = ['-c', GUARD, 'guard', folder, ...argv(port)]
  // In its own process group: Ctrl-C goes to the bench, and the guard then stops the server.
  const guard = spawn('sh', args, { ...identity, cwd: folder, detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = once(guard, 'close')
  const stop = async () => {
    guard.stdin.end()
    await ended
  }
  try {
    await listening(port)
    return { port, stop }
  } catch (error) {
    const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '')
    await stop()
    throw new Error(`${argv(port)[0]} does not listen: ${log.slice(-2_000)}`, { cause: error })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function listening(port: number): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (performance.now() > endMs) throw error
      await sleep(50)
    } finally {
      socket.destroy()
    }
  }
}
