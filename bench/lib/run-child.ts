import { spawn } from 'node:child_process'

const PATIENCE_MS = 180_000

/**
 * Runs a script in its own Node process and reads the JSON in its last line. Its standard input ends with this process.
 *
 * @throws if it exits with another code than 0, or not within three minutes
 */
export async function runChild(script: string, args: readonly string[]): Promise<unknown> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: 'pipe',
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => {
    stdout = `${stdout}${chunk}`.slice(-10_000)
  })
  child.stderr.on('data', chunk => {
    stderr = `${stderr}${chunk}`.slice(-2_000)
  })
  const end = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(code ?? signal))
  })
  if (end !== 0) throw new Error(`${script} ended with ${end}: ${stderr}`)
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}
