import { spawn } from 'node:child_process'

/**
 * Prints the peak resident memory, in KiB, as the last line of stderr when the process ends. `resourceUsage` would not do: there
 * a process starts with the peak of its parent.
 */
const REPORT =
  'data:text/javascript,import{readFileSync}from"node:fs";process.on("exit",()=>process.stderr.write(' +
  '"\\npeak "+/VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]))'

/** Peak resident memory of a Node process in MB; its output is discarded. @throws if it fails */
export async function peakMemoryMb([node = '', ...args]: readonly string[]): Promise<number> {
  const child = spawn(node, ['--import', REPORT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr = `${stderr}${chunk}`.slice(-2000)
  })
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  const peak = /peak (\d+)$/.exec(stderr)?.[1]
  if (code !== 0 || peak === undefined) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return Number(peak) / 1024
}
