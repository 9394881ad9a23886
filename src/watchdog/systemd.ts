import { spawn } from 'node:child_process'
import { within } from '../util/concurrency.ts'
import { executionStatus, type Observer } from './report.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface SystemdOptions {
  readonly env: Environment
  /** Of this process. */
  readonly pid: number
  /** Whether the loop gets on; without it nothing is said to systemd's watchdog. */
  isAlive(): boolean
  /** A message could not be sent; told once. Nothing else comes of it. */
  failed(message: string): void
  /** Calls again and again, until the function that comes back is called. */
  every?(ms: number, what: () => void): () => void
  /** Sends; `systemd-notify` unless given. */
  readonly notify?: NotifyProgram
}

/** What systemd is told: ready after the first sweep, alive again and again, and that it stops. */
export interface Systemd extends Observer {
  /** The drain begins. Resolves when that is said, or after a second. */
  stopping(): Promise<void>
  /** Says nothing more. */
  close(): void
}

/**
 * Tells systemd how the watchdog does, where it was started by a unit of `Type=notify` (`NOTIFY_SOCKET`); `undefined`
 * elsewhere. Node has no datagram sockets of the Unix kind, so the messages go through the program `systemd-notify`.
 * https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
export function openSystemd(options: SystemdOptions): Systemd | undefined {
  if (!options.env.NOTIFY_SOCKET) return undefined
  const send = senderOf(options)
  return {
    ...readyAfterFirst(send),
    stopping: () => within(1_000, send('STOPPING=1', 'STATUS=stopping')),
    close: beat(send, options),
  }
}

/** Tells systemd's watchdog as long as the loop is alive. Where systemd takes no messages they do not pile up. */
function beat(send: Send, { env, pid, isAlive, every = everyInterval }: SystemdOptions): () => void {
  const everyMs = watchdogEveryMs(env, pid)
  if (everyMs === undefined) return () => {}
  let isSending = false
  return every(everyMs, async () => {
    if (isSending || !isAlive()) return
    isSending = true
    await send('WATCHDOG=1')
    isSending = false
  })
}

/**
 * How often systemd wants a sign of life, ms: half of what it waits. Not this process if it set another one's id: then a
 * program in between, npx or a shell, is the one it watches.
 */
function watchdogEveryMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  const usec = /^\d{1,15}$/.test(WATCHDOG_USEC ?? '') ? Number(WATCHDOG_USEC) : 0
  if (usec === 0 || (WATCHDOG_PID && WATCHDOG_PID !== String(pid))) return undefined
  return Math.min(Math.max(1, usec / 2000), MAX_TIMER_MS)
}

/** setTimeout takes no more. */
const MAX_TIMER_MS = 2 ** 31 - 1

type Send = (...assignments: readonly string[]) => Promise<void>

/** One message after the other: systemd shall hear them in their order. What fails is told once. */
function senderOf({ env, notify = notifyProgram, failed }: SystemdOptions): Send {
  let last: Promise<void> = Promise.resolve()
  let wasTold = false
  const attempt = async (assignments: readonly string[]): Promise<void> => {
    const fault = await notify(assignments, env)
    if (fault === undefined || wasTold) return
    wasTold = true
    failed(fault)
  }
  return (...assignments) => {
    last = last.then(() => attempt(assignments))
    return last
  }
}

type Shown = 'watching' | 'breaker' | 'powerless' | 'failing'

/** The status is said when it is another one, not after each pass: every message is a process. */
function readyAfterFirst(send: Send): Observer {
  let isReady = false
  let isPowerless = false
  let shown: Shown | undefined
  const show = (what: Shown, text: string): void => {
    if (shown !== what) void send(...(isReady || what === 'failing' ? [] : ['READY=1']), `STATUS=${text}`)
    shown = what
  }
  return {
    passed(report) {
      const { breaker, watched } = report
      isPowerless = (executionStatus(report) ?? (isPowerless ? 'nothing' : 'some')) === 'nothing'
      if (breaker.isOpen) show('breaker', 'the breaker is open: nothing is ended')
      else if (isPowerless) show('powerless', 'nothing can be ended: the store lets no decision be carried out')
      else show('watching', `watching ${watched} streams`)
      isReady = true
    },
    failed: ({ code }) => show('failing', `no pass comes to its end: ${code}`),
  }
}

function everyInterval(ms: number, what: () => void): () => void {
  const timer = setInterval(what, ms)
  timer.unref()
  return () => clearInterval(timer)
}

/** Sends one message; resolves with what went wrong, if anything did. Never rejects. */
type NotifyProgram = (
  assignments: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
) => Promise<string | undefined>

/** The program itself waits up to 5 s until systemd has taken the message. */
const LONGEST_MS = 7_000

/**
 * Runs `systemd-notify` of PATH, without a shell. It gets the two variables it needs and nothing that is secret. It stays
 * until systemd has taken the message: what it sends of a right lower than root's goes out under its own process id, which
 * systemd can only find in the unit while it runs. Hence also `NotifyAccess=all`, and neither `--pid`, which would make
 * another process the main one, nor `--no-block`.
 */
export const notifyProgram: NotifyProgram = (assignments, { NOTIFY_SOCKET, PATH }) =>
  new Promise(resolve => {
    const fault = (error: unknown): void =>
      resolve(`systemd-notify cannot be started: ${error instanceof Error ? error.message : error}`)
    try {
      const child = spawn('systemd-notify', [...assignments], {
        env: { NOTIFY_SOCKET, PATH },
        stdio: 'ignore',
        timeout: LONGEST_MS,
        killSignal: 'SIGKILL',
      })
      child.on('error', fault)
      child.on('close', (code, signal) => {
        resolve(code === 0 ? undefined : `systemd-notify ended with ${code ?? signal}`)
      })
    } catch (error) {
      fault(error)
    }
  })
