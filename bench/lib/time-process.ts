import { spawn } from 'node:child_process'

/**
 * Wall clock time of one child process, from spawn to exit, in ms; its output is discarded.
 *
 * @throws if it exits with another code than 0: a failure is not a measurement
 */
export async function timeProcess(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const [command = process.execPath, ...args] = argv
  const startMs = performance.now()
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stdout.resume()
  child.stderr.on('data', chunk => {
    stderr = `${stderr}${chunk}`.slice(-2000)
  })
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  const tookMs = performance.now() - startMs
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${stderr}`)
  return tookMs
}
