import { readFile } from 'node:fs/promises'

/** User and system time of a process so far, ms: fields 14 and 15 of `/proc/PID/stat`, in ticks of 10 ms. */
export async function processorMs(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
