//! The component: any number of threads, one lock around the cable, a semaphore for each end.

use cairn::sync::{Mutex, Semaphore};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error};
use cairn_driver_interfaces::{FRAME_MAXIMUM, Frames};
use cairn_frame_bridge::cable::{self, Cable};
use cairn_interfaces::Portals;

/// Most clients.
const ENDS: usize = 4;

struct Bridge {
    cable: Mutex<Cable<ENDS>>,
    /// As many permits as frames wait, but for those of threads that are about to take one.
    arrived: [Semaphore; ENDS],
}

static BRIDGE: Bridge =
    Bridge { cable: Mutex::new(Cable::new()), arrived: [const { Semaphore::new(0) }; ENDS] };

cairn::component! {
    name: "frame-bridge",
    imports: { portals: Portals },
    exports: { frames: Frames = BRIDGE },
}

impl Bridge {
    /// Takes the permits of frames that are lost. Who has one of them already finds no frame.
    fn forget(&self, end: usize, lost: usize) {
        for _ in 0..lost {
            if self.arrived[end].try_acquire() != Ok(true) {
                break;
            }
        }
    }
}

impl Frames for Bridge {
    /// A client that asks begins: what was sent before is not for it.
    fn address(&self, Caller(client): Caller) -> Result<u64, Error> {
        let mut cable = self.cable.lock()?;
        let end = cable.end_of(client)?;
        let lost = cable.begin(end);
        self.forget(end, lost);
        Ok(cable::address(end))
    }

    fn send(&self, Caller(client): Caller, frame: ReadWindow) -> Result<(), Error> {
        let mut bytes = [0; FRAME_MAXIMUM];
        if frame.len() > bytes.len() {
            return Err(Error::TooLarge);
        }
        let length = frame.read(0, &mut bytes)?;
        let mut result = Ok(());
        let mut cable = self.cable.lock()?;
        let end = cable.end_of(client)?;
        cable.send(end, &bytes[..length], |end| result = result.and(self.arrived[end].release()));
        result
    }

    fn receive(&self, Caller(client): Caller, frame: WriteWindow) -> Result<usize, Error> {
        let end = self.cable.lock()?.end_of(client)?;
        loop {
            if let Err(error) = self.arrived[end].acquire() {
                // Its thread is called home, so it has probably ended. If not, it asks for its address again.
                let mut cable = self.cable.lock()?;
                let lost = cable.leave(end);
                self.forget(end, lost);
                return Err(error);
            }
            let mut bytes = [0; FRAME_MAXIMUM];
            let taken = self.cable.lock()?.take(end, |taken| {
                bytes[..taken.len()].copy_from_slice(taken);
                taken.len()
            });
            // Another thread has begun anew meanwhile.
            if let Some(length) = taken {
                return frame.write(0, &bytes[..length.min(frame.len())]);
            }
        }
    }
}
