/** Hang-up, as when a terminal closes, and Ctrl-\. */
const ENDING = ['SIGHUP', 'SIGQUIT'] as const

/**
 * Until it is disposed of, a hang-up and Ctrl-\ end the process as SIGTERM does. Without a listener they would end it at
 * once, in the middle of its work, and leave the programs that it runs.
 */
export function takeAsSigterm(): Disposable {
  const terminate = () => void process.kill(process.pid, 'SIGTERM')
  for (const signal of ENDING) process.on(signal, terminate)
  return {
    [Symbol.dispose]() {
      for (const signal of ENDING) process.off(signal, terminate)
    },
  }
}
