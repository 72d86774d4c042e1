const hertz = 880;
const seconds = 0.12;

/** Creates the sound of a walk test. The browser gives it after a click only; without one it is silent. */
export function createBeep(): { play: () => void; close: () => void } {
  const audio = new AudioContext();
  return {
    play: () => {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      tone.frequency.value = hertz;
      volume.gain.setValueAtTime(0.2, audio.currentTime);
      volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + seconds);
      tone.connect(volume).connect(audio.destination);
      tone.start();
      tone.stop(audio.currentTime + seconds);
    },
    close: () => void audio.close(),
  };
}
