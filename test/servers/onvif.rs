//! ONVIF camera of the crate onvif-server. Arguments: host, port, addresses of stream and snapshot.
use async_trait::async_trait;
use onvif_server::{DeviceInfo, DeviceService, MediaService, OnvifError, OnvifServer};

#[derive(Clone)]
struct Camera {
    stream: String,
    snapshot: String,
}

#[async_trait]
impl DeviceService for Camera {
    async fn get_device_information(&self) -> Result<DeviceInfo, OnvifError> {
        Ok(DeviceInfo {
            manufacturer: "Watchpost".into(),
            model: "Test".into(),
            firmware_version: "1".into(),
            serial_number: "1".into(),
            hardware_id: "1".into(),
        })
    }
}

#[async_trait]
impl MediaService for Camera {
    async fn get_stream_uri(&self, _profile: &str) -> Result<String, OnvifError> {
        Ok(self.stream.clone())
    }
    async fn get_snapshot_uri(&self, _profile: &str) -> Result<String, OnvifError> {
        Ok(self.snapshot.clone())
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let camera = Camera { stream: arguments[3].clone(), snapshot: arguments[4].clone() };
    OnvifServer::builder()
        .advertised_host(&arguments[1])
        .port(arguments[2].parse().expect("port"))
        .device_service(camera.clone())
        .media_service(camera)
        .auth("watcher", "pa&ss <1>")
        .build()
        .expect("device")
        .run()
        .await
        .expect("server");
}
