import { spawn } from 'node:child_process'

/** Sends one message; resolves with what went wrong, if anything did. Never rejects. */
export type NotifyProgram = (
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
