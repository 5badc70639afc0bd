//! A display driver of the registry, and a library that draws.

use crate::{imports, say};
use cairn::Error;
use cairn_embedded::{ConsoleStream, Delay, Output, SpiDevice};
use core::convert::Infallible;
use embedded_graphics::mono_font::{MonoTextStyle, ascii::FONT_5X8};
use embedded_graphics::pixelcolor::Rgb565;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{Line, PrimitiveStyle, Rectangle};
use embedded_graphics::text::Text;
use embedded_io::Write;
use mipidsi::interface::SpiInterface;
use mipidsi::{Builder, models::ST7789};

/// Pixels of a line, and lines.
const WIDTH: u16 = 64;
const HEIGHT: u16 = 48;

pub fn draw() -> Result<(), Error> {
    assert_eq!(imports::SURROUNDINGS.pixel(0, 0), Err(Error::NotFound), "it is off");
    let data = Output::of(imports::PINS, 0, false)?;
    let reset = Output::of(imports::PINS, 1, true)?;
    let mut buffer = [0; 256];
    let interface = SpiInterface::new(SpiDevice::<256>(imports::SPI), data, &mut buffer);
    let mut display = Builder::new(ST7789, interface)
        .display_size(WIDTH, HEIGHT)
        .reset_pin(reset)
        .init(&mut Delay(imports::CLOCK))
        .expect("the display begins");
    draw_on(&mut display).expect("draw");
    let mut canvas = Canvas([0; WIDTH as usize * HEIGHT as usize]);
    let Ok(()) = draw_on(&mut canvas);
    compare(&canvas)
}

fn draw_on<D: DrawTarget<Color = Rgb565>>(target: &mut D) -> Result<(), D::Error> {
    let whole = Rectangle::new(Point::zero(), Size::new(WIDTH.into(), HEIGHT.into()));
    let thin = |colour| PrimitiveStyle::with_stroke(colour, 1);
    target.clear(Rgb565::BLACK)?;
    whole.into_styled(thin(Rgb565::RED)).draw(target)?;
    let line = Line::new(Point::new(4, 40), Point::new(35, 20));
    line.into_styled(thin(Rgb565::BLUE)).draw(target)?;
    let style = MonoTextStyle::new(&FONT_5X8, Rgb565::GREEN);
    Text::new("Cairn", Point::new(4, 12), style).draw(target)?;
    Ok(())
}

/// Pixels in memory, as they should be on the display.
struct Canvas([u16; WIDTH as usize * HEIGHT as usize]);

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(WIDTH.into(), HEIGHT.into())
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb565;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb565>>>(
        &mut self,
        pixels: I,
    ) -> Result<(), Infallible> {
        for Pixel(Point { x, y }, colour) in pixels {
            self.0[y as usize * usize::from(WIDTH) + x as usize] = colour.into_storage();
        }
        Ok(())
    }
}

fn compare(canvas: &Canvas) -> Result<(), Error> {
    let mut coloured = 0;
    for (number, expected) in (0..).zip(canvas.0) {
        let (x, y) = (number % u64::from(WIDTH), number / u64::from(WIDTH));
        assert_eq!(imports::SURROUNDINGS.pixel(x, y)?, expected, "{x} {y}");
        coloured += u32::from(expected != 0);
    }
    say!("ok: mipidsi has drawn a frame, a line and text: {coloured} pixels are as in memory");
    Ok(())
}
